"""The experiments of the paper on the adaptive aggregation tree."""
