"""The doors: HTTP API, tool server, office and command line. They translate; they never decide."""
