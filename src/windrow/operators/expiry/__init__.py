"""Live results by the instant at which they expire."""
