"""The view tree in whole numbers of any width."""
