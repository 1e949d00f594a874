"""Rows that count only while no row of another window matches them."""
