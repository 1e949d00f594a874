"""Queries over relations: a tree of relational words, its rules, and what runs its parts."""
