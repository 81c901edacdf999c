"""What all kinds of records have: notes, files, history, activity and search."""
