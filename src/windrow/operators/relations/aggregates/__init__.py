"""What an aggregate over a changing relation remembers: sums, different values, extremes."""
