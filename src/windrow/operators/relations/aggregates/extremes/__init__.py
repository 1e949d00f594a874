"""The largest and smallest values of groups: heaps, and the order of values of any type."""
