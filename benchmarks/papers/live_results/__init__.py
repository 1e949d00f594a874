"""Paper 4: results of joins and DISTINCT in structures that they expire from."""
