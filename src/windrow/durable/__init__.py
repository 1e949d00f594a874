"""Sessions in this process that outlive it: a log of all that changes them, and its replay."""
