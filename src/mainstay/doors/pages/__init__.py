"""What every page shares: layout and style, the session cookie, forms and their protection."""
