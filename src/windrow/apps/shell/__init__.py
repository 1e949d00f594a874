"""`windrow shell`: statements as they are typed, on a session in this process."""
