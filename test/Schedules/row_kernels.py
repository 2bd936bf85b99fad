"""What the tests of the kernels that mix rows share: their text as outlined, row buffers full of NaN, batch shapes."""

import re

import numpy as np

from kernel_harness import ROOT, Kernel

TEMPLATES = ROOT / "lib" / "Outline" / "kernels"

#: Keys a panel of attention.
PANEL = {"generic": 16, "avx2": 16, "avx512": 32}


def text(kind, **numbers):
    """Text of the kernel function of `kind` for `numbers` (the names in the header of the file)."""
    lines = []
    for line in (TEMPLATES / f"{kind}.mlir.in").read_text().split("\n"):
        conditions, rest = re.match(r"((?:@[!?][A-Z_]+@)*)(.*)", line).groups()
        if all((mark == "?") == (name in numbers) for mark, name in re.findall("@([!?])([A-Z_]+)@", conditions)):
            lines.append(rest)
    source = "\n".join(line for line in lines if not line.startswith("//"))
    for name, value in numbers.items():
        source = source.replace(f"@{name}@", str(value))
    return source


def compile_kernel(kind, isa, **numbers):
    """The kernel of `kind`, callable from outside."""
    source = text(kind, **numbers).replace("func.func private @", "func.func @")
    source = source.replace("attributes {convbert.kernel", "attributes {llvm.emit_c_interface, convbert.kernel")
    return Kernel(source, kind, isa)


class Batch:
    """Sequences of `lengths` tokens in row buffers.

    Each owns at least 8 rows.  Every float outside a sequence's rows is NaN: behind its end, between the sequences,
    behind the columns of a row.
    """

    def __init__(self, lengths, seed=0, gap=1):
        self.lengths = list(lengths)
        self.random = np.random.default_rng(seed)
        self.starts, row = [], 3
        for length in self.lengths:
            self.starts.append(row)
            row += max(length, 8) + gap
        self.rows = row
        ends = [*self.starts, row]
        #: { B, T_max, row_start[B + 1], length[B] }
        self.shape = np.array([len(self.lengths), max(self.lengths), *ends, *self.lengths], np.int64)

    def buffer(self, columns, pad=5, fill=True):
        """A view of `columns` columns in a wider buffer of rows; normally distributed inside the sequences."""
        whole = np.full((self.rows, columns + 2 * pad), np.nan, np.float32)
        view = whole[:, pad : pad + columns]
        if fill:
            for rows in self.sequences(view):
                rows[:] = self.random.standard_normal(rows.shape)
        return view

    def sequences(self, buffer):
        """The rows of each sequence."""
        return [buffer[s : s + n] for s, n in zip(self.starts, self.lengths)]

    def untouched(self, buffer):
        """Whether the rows that belong to no sequence are still NaN."""
        owned = np.zeros(self.rows, bool)
        for start, length in zip(self.starts, self.lengths):
            owned[start : start + max(length, 8)] = True
        return bool(np.isnan(buffer.base[~owned]).all())


def same(a, b):
    """Whether two lists of arrays are equal bit by bit."""
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b))


SCRATCH = np.zeros(64, np.int8)
