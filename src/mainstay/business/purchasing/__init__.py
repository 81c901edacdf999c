"""Purchasing: orders to suppliers, received goods, supplier bills, and the material they mean for jobs."""
