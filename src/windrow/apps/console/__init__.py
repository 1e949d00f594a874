"""The web console of a session and its HTTP API; the only package that knows a web framework."""
