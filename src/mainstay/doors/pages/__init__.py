"""What all pages share: layout, styles, the session cookie, and forms with their protection."""
