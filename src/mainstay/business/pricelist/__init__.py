"""The price list: items, tax rates and suppliers."""
