"""What the pages of the office share: lists, record pages, forms, panels and navigation."""
