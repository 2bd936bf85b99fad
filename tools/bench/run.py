#!/usr/bin/env python3
"""Runs this compiler and other engines on the same weights, in turns, and writes tools/bench/results/.

    run.py [--sizes small,medium-small,base] [--shapes 1x16,...] [--threads 1,2] [--targets native,...] [--seconds 4]
           [--peers NAMES] [--name NAME] [--output FOLDER] [--merge]

`make bench` makes the venv of the other engines and calls this. Every size and number of threads is a process of its
own: thread pools and caches of one never meet those of another.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import models
import report
from convbert.errors import Error
from convbert.machine import cpu_name
from convbert.targets import cpu_flags

ROOT = Path(__file__).resolve().parents[2]
SHAPES = "1x16,1x128,8x128,2x512,8x16-128"
PACKAGES = {"torch": "torch", "torch-compile": "torch", "onnxruntime": "onnxruntime", "openvino": "openvino",
            "iree": "iree-base-compiler", "zentorch": "zentorch"}


def one(options):
    """Measures one size with one number of threads for one target; prints JSON."""
    from convbert.benchmark import benchmark, parse_shapes

    path = models.make(options.size, ROOT / "build" / "bench")
    names = [name for name in options.peers.split(",") if name]
    result = benchmark(path, parse_shapes(options.shapes), threads=int(options.threads), target=options.targets,
                       peers=names, seconds=options.seconds)
    print(json.dumps(asdict(result) | {"model": path.name, "size": options.size, "target": options.targets,
                                       "packages": {PACKAGES[name]: version(PACKAGES[name]) for name in names}}))


def without_avx512(folder):
    """The environment in which every engine sees a CPU with AVX2 and nothing beyond."""
    flags = cpu_flags()
    if "avx512f" not in flags:
        return {}
    if "cpuid_fault" not in flags:
        sys.exit("bench: x86-64-v3 beside other engines requires a CPU without AVX-512, or one with the flag cpuid_fault")
    library = Path(folder) / "hide_avx512.so"
    source = Path(__file__).with_name("hide_avx512.c")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-Wall", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library)}


def measure(options, size, threads, target):
    """one() in a process of its own, pinned to as many cores; None if it fails, with the reason on stderr."""
    command = [sys.executable, __file__, "--size", size, "--threads", str(threads), "--targets", target, "--shapes",
               options.shapes, "--seconds", str(options.seconds), "--peers", options.peers]
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    print(f"bench: {size}, {threads} thread{'s' if threads > 1 else ''}, {target}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        environment = without_avx512(folder) if target == "x86-64-v3" and options.peers else {}
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment,
                                preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if result.returncode:
        print(f"bench: {size} failed with exit code {result.returncode}", file=sys.stderr)
        return None
    return json.loads(result.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sizes", default=",".join(models.SIZES))
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--targets", default="native", help="native, x86-64-v2, x86-64-v3, ...")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each engine and shape")
    parser.add_argument("--peers", default=",".join(PACKAGES))
    parser.add_argument("--name", help="of the files that are written (default: that of the instruction set)")
    parser.add_argument("--output", type=Path, default=ROOT / "tools" / "bench" / "results", metavar="FOLDER")
    parser.add_argument("--merge", action="store_true", help="keep the other runs that the files hold already")
    parser.add_argument("--size", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in filter(None, options.peers.split(",")):
        if name not in PACKAGES:
            parser.error(f"--peers: requires names from {', '.join(PACKAGES)}, but found {name!r}")
    if options.size:
        try:
            one(options)
        except Error as error:
            sys.exit(f"bench: {error}")
        return 0
    runs = [measure(options, size, int(threads), target) for target in options.targets.split(",")
            for threads in options.threads.split(",") for size in options.sizes.split(",")]
    done = [run for run in runs if run]
    if not done:
        return 1
    result = {"processor": cpu_name(), "cores": os.cpu_count(), "python": platform.python_version(),
              "runs": done}
    name = options.name or done[0]["isa"]
    if options.merge:
        result["runs"] = report.merge(options.output / f"{name}.json", done)
    for path in report.write(result, options.output, name):
        print(f"wrote {path}")
    return 0 if len(done) == len(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
