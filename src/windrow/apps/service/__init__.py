"""`windrow serve`: a job in this process for months, with the console, an API and metrics."""
