"""Equipment at sites: what was installed where, and until when it is under warranty."""
