"""`python -m windrow` is the program `windrow`."""

from windrow.apps.cli import main

if __name__ == "__main__":
    main()
