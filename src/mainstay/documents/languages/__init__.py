"""The messages of documents, emails and public pages, one TOML file for each language."""
