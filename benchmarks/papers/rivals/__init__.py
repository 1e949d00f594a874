"""Structures that the papers compare with, and that no query runs on."""
