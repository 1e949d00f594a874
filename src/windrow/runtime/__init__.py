"""What runs a query, in one process and on Spark: shards, their pace, and the ledger of rows."""
