"""Issuing documents: the snapshot taken when a document is issued, the PDF made of it, and the email it goes with."""
