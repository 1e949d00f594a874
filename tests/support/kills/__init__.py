"""Jobs in one process that are killed, or whose disk fails, again and again."""
