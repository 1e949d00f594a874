"""What a query hands over to another run of it: rows, clock and ledger, in memory or in a file."""
