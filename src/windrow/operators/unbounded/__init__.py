"""Extremes and different values of a window that rows never leave."""
