"""Says what the machine code of each kernel multiplies with: whole vectors of floats, or single ones.

    llvm-objdump -dr --no-show-raw-insn --no-leading-addr FILE.o | vector_code.py SET

SET is `generic` (mulps beside addps), `avx2` or `avx512` (products of ymm or zmm registers), or `neon` (fmla).  Every
task of a kernel that computes must multiply vectors, and next to no single floats: a norm has a mean, a variance and a
factor a row.  Prints a line for each kernel, and one for each call of the mathematics library; exit code 1 if there is a
call, a scalar kernel, or none.
"""

import re
import sys

VECTORS = {"generic": re.compile(r"\tmulps\b"), "neon": re.compile(r"\tfmla\tv\d+\.4s"),
           "avx2": re.compile(r"\tv(?:mul|f\w+)ps\t.*%ymm"), "avx512": re.compile(r"\tv(?:mul|f\w+)ps\t.*%zmm")}
SINGLES = {"generic": re.compile(r"\t(?:mulss|vfmadd\w+ss)\b"), "avx2": re.compile(r"\t(?:vmulss|vf\w+ss)\b"),
           "avx512": re.compile(r"\t(?:vmulss|vf\w+ss)\b"), "neon": re.compile(r"\t(?:fmul|fmadd|fmsub)\ts\d")}
#: What kernels of these names compute; the others move data.
KERNELS = re.compile(r"(dense|norm|embed|depthwise|span|attention_d)\w*_task$")
LIBRARY = re.compile(r"R_\w+\t((?:fma|exp|erf|tanh|log|pow|sqrt)\w*)")


def main():
    vectors, singles = VECTORS[sys.argv[1]], SINGLES[sys.argv[1]]
    bad, seen = False, 0
    for part in re.split(r"(?m)^(?=<[\w.$]+>:$)", sys.stdin.read()):
        name = re.match(r"<([\w.$]+)>:", part)
        if not name:
            continue
        for call in LIBRARY.finditer(part):
            print(f"{name[1]} calls {call[1]}")
            bad = True
        if KERNELS.fullmatch(name[1]):
            many, few = len(vectors.findall(part)), len(singles.findall(part))
            scalar = many < 8 or few * 4 > many
            print(f"{name[1]}: {'scalar' if scalar else 'vectors'}, {many} products of vectors, {few} of single floats")
            bad |= scalar
            seen += 1
    sys.exit(bad or not seen)


main()
