"""Run the command line as ``python -m profet``."""

from profet.cli.main import main

if __name__ == "__main__":
    main()
