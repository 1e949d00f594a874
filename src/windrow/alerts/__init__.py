"""Alerts: a condition of a query that holds for some time is raised, and cleared, each once."""
