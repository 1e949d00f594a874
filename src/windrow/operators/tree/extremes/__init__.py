"""The view tree that knows which cells of its root are live: for extremes and different values."""
