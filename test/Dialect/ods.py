"""What the tests of the dialect read from its ODS files."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ODS = sorted((ROOT / "dialect" / "IR").glob("ConvBERT*Ops.td"))
LIT = ROOT / "test" / "Dialect" / "ConvBERT"


def operations():
    """{mnemonic: examples} of all operations: the texts of the ```mlir blocks of their descriptions."""
    found = {}
    for path in ODS:
        # An operation's record reaches to the next `def`; `class` holds no example.
        for record in re.split(r"^(?=def )", path.read_text(encoding="utf-8"), flags=re.M):
            name = re.match(r'def ConvBERT_\w+Op : \w+<"(\w+)"', record)
            if name:
                found[name.group(1)] = re.findall(r"```mlir\n(.*?)```", record, flags=re.S)
    return found
