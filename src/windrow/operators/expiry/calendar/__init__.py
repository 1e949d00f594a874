"""The calendar queue: days of a year, each a sorted list."""
