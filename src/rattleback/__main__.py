"""Lets ``python -m rattleback`` do what the command ``rattleback`` does."""

import sys

from rattleback.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
