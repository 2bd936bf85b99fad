#!/usr/bin/env python3
"""Packs fuzzing corpora, directories of small inputs, into one file a target, and unpacks them.

    corpus.py unpack DIR      corpus/NAME.pack -> DIR/NAME/000000, ...
    corpus.py pack DIR        DIR/NAME/* -> corpus/NAME.pack

A pack is, for each input, its length in decimal, a line feed, and its bytes.
"""

import sys
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"


def read_pack(blob):
    """Yields the inputs of a pack."""
    while blob:
        length, _, blob = blob.partition(b"\n")
        yield blob[:int(length)]
        blob = blob[int(length):]


def main(action, directory):
    if action == "unpack":
        for pack in sorted(CORPUS.glob("*.pack")):
            target = directory / pack.stem
            target.mkdir(parents=True, exist_ok=True)
            for i, data in enumerate(read_pack(pack.read_bytes())):
                (target / f"{i:06}").write_bytes(data)
    else:
        for source in sorted(path for path in directory.iterdir() if path.is_dir()):
            inputs = sorted({path.read_bytes() for path in source.iterdir()}, key=lambda data: (len(data), data))
            (CORPUS / f"{source.name}.pack").write_bytes(b"".join(b"%d\n" % len(data) + data for data in inputs))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]))
