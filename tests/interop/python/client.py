"""Microsoft's Python client against the gateway at COSMOS_ENDPOINT.

    python client.py check [PART OF A NAME]
    python client.py write FILE --database D --container C [--key PATH] [--history] [--workers N]

`check` prints one line a check: `ok NAME` or `FAILED NAME: why`. `write` upserts the documents of a
file of JSON lines; database and container are made where they are missing.
"""

import argparse
import faulthandler
import sys

import check
import documents
import feed
import history
import queries
import splits
import write

PARTS = (documents, queries, feed, history, splits)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check")
    checking.add_argument("only", nargs="?", default="")
    writing = commands.add_parser("write")
    write.arguments(writing)
    arguments = parser.parse_args()
    if arguments.command == "check":
        # A feed without an end would hold the tests up for ever.
        faulthandler.dump_traceback_later(180, exit=True)
        return check.run(arguments.only)
    write.run(arguments)
    return True


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
