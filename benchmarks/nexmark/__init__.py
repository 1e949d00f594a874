"""NEXMark: an auction's persons, auctions and bids, and the queries q0 to q22 over them."""
