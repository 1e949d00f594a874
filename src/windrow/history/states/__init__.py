"""States of aggregates, and how rows and states are added to them."""
