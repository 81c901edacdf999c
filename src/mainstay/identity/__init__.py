"""Sign-in and credentials: accounts, sessions, one-time links, API keys, OAuth connections and tokens."""
