"""From the states of shards to what readers see: answers, changes and the result of a query."""
