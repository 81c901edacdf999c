"""Floor 4: the one idea: an operation is declared once and every door derives itself from it."""
