"""What tests share: oracles, generated streams, slow twins, and programs that they start."""
