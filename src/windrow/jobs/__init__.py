"""What a script means: its streams with their sources, its queries with their sinks."""
