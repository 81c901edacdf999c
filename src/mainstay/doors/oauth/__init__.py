"""The OAuth 2.1 sign-in of the tool server: one file for each endpoint."""
