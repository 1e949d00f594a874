"""Rules that rewrite a relation into one that means the same, one a file."""
