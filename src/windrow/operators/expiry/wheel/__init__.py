"""A timing wheel whose slots are chunks of rows."""
