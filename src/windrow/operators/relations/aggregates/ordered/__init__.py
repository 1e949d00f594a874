"""Values of groups in order, of which some are shown: the first, the last, those of a rank."""
