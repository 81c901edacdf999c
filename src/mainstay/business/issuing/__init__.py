"""Issuing: what is frozen of a document when it leaves, the PDF that is made of it, and the mail it goes with."""
