"""The command line."""

import sys

from textkit import slug, to_roman

COMMANDS = {"slug": slug, "roman": lambda text: to_roman(int(text))}


def main(argv):
    """Run one command; gives the exit status."""
    if len(argv) != 2 or argv[0] not in COMMANDS:
        print("usage: python -m textkit slug|roman TEXT", file=sys.stderr)
        return 2
    print(COMMANDS[argv[0]](argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
