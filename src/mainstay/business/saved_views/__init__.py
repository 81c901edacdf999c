"""Saved views: the filters of a list under a name, for oneself or shared with the office."""
