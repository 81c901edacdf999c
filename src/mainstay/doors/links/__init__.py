"""The addresses that programs get for single files: each opens one upload, or one download."""
