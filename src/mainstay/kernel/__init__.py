"""The kernel: an operation is declared once, and every door derives from that declaration."""
