"""Answers of queries with ERROR: what a narrowed window lacks, and how far an answer can be off."""
