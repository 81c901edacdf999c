"""The people of an organisation."""
