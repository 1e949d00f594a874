"""One event at a time: the newest answer kept up row by row, in plain Python, next to the shard."""
