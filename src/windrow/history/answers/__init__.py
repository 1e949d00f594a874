"""States of an interval turned into values with bounds."""
