"""Floor 3: the terms in which operations are spoken of: who acts, what goes in and comes out, what is refused."""
