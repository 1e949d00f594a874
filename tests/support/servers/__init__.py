"""Programs that tests start: brokers, databases, clusters, consoles."""
