"""Hours: who worked how long on what, who has approved it, and what of it is still to be billed."""
