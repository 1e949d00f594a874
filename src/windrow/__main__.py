"""`python -m windrow` is the program `windrow`."""

from windrow.cli import main

if __name__ == "__main__":
    main()
