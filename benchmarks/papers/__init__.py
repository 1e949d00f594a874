"""The experiments of the papers, run by ourselves and drawn."""
