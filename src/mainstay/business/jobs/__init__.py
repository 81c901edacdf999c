"""Jobs: the work to be done for customers, and its progress."""
