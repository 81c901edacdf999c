"""Small immutable values: money, ids, moments, addresses, input fields."""
