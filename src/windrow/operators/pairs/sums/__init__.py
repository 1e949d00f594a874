"""The states that joined rows are added to and taken from."""
