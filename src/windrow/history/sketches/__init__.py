"""Mergeable sketches of nodes: quantiles of measures, different values of columns."""
