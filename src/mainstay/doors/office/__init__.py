"""The office: the pages that people work in."""
