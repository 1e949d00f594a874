"""What people and their scripts see on a terminal."""
