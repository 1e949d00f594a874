"""Tables: the newest row of each key, and what has changed in them."""
