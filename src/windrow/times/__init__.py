"""Dates, times of day, zones and intervals, by the rules of java.time: what Spark means by them."""
