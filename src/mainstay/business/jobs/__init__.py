"""Jobs: what is to be done, for whom, and how far it is."""
