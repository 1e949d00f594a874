"""Sums that stay exact: numbers as limbs of 32 bits; adding and taking away lose nothing."""
