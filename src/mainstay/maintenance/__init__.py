"""Tools for the operator: integrity check, backup, restore, and diagnosis of an installation."""
