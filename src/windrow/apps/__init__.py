"""What people use: the command line, the shell, the console and the demo."""
