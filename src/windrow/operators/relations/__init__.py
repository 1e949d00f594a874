"""Operators over relations: each takes the changes of its inputs and gives its own."""
