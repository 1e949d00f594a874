"""A job that is killed and damaged, and started again."""
