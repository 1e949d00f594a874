"""How many values of groups have each bit: BIT_AND, BIT_OR and BIT_XOR of rows that come and go."""
