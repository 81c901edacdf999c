"""The price list: what is sold, at which tax, and from whom it comes."""
