"""Sums that stay exact: numbers as limbs of 32 bits, so that adding and taking away lose nothing."""
