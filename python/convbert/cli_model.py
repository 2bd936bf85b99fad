"""convbert compile, info, verify, bench"""

from __future__ import annotations

import argparse
import os
from typing import Any

from . import console
from .artifact import check_contents, compile, is_artifact, read_manifest
from .cost import describe_array, elements
from .errors import Error


def _types(dtype: str | None, stored_weights: str | None) -> str:
    """What is not float32, to follow an instruction set."""
    return ", bfloat16" if dtype == "bfloat16" else ", bf16 weights" if stored_weights == "bf16" else ""


def compile_(options: argparse.Namespace) -> None:
    with console.working(f"compiling {options.directory}"):
        place = compile(options.directory, output=options.output, target=options.target,
                        outputs=[name for names in options.outputs for name in names.split(",")],
                        weights=options.weights, dtype=options.dtype)
    manifest = read_manifest(place)
    total = sum(item["bytes"] for item in manifest["files"].values())
    if options.json:
        console.print_json({"output": place, "bytes": total, "target": manifest["target"],
                            "dtype": manifest["dtype"], "stored_weights": manifest["stored_weights"],
                            "files": sorted(manifest["files"])})
    else:
        stored = _types(manifest["dtype"], manifest["stored_weights"])
        print(f"{place}: {console.human_bytes(total)} for {manifest['target']['name']} ({manifest['target']['isa']}"
              f"{stored})")


def schedules(options: argparse.Namespace) -> None:
    """info --schedules"""
    from .schedules import scheduled

    if is_artifact(options.directory):
        raise Error(f"{options.directory}: requires a checkpoint directory for --schedules, but found an artefact")
    rows = scheduled(options.directory, options.target, weights=options.weights, dtype=options.dtype)
    if options.json:
        console.print_json([row.to_dict() for row in rows])
        return
    print(console.table(("function", "operation", "of", "kernel", "schedule", "parameters"),
                        [(row.function, row.operation, row.where, row.kernel, row.schedule or "copies", row.parameters)
                         for row in rows], words=6))
    for kernel, why in dict.fromkeys((row.kernel, row.why) for row in rows if row.why):
        print(f"{kernel}: {why}")
    for row in rows:
        for fallback in row.fallbacks:
            print(f"left to scalar loops in {row.kernel}: {fallback}")


def operators(options: argparse.Namespace, sizes: dict[str, int]) -> None:
    """info --ops"""
    from dataclasses import asdict

    from .op_costs import Sizes, rows

    found = rows(Sizes(**sizes))
    if options.json:
        console.print_json([asdict(row) for row in found])
        return
    print(console.table(("operator", "parameters", "MACs", "reads", "writes"),
                        [(row.operator, f"{row.parameters:,}", f"{row.macs:,}", console.human_bytes(row.reads),
                          console.human_bytes(row.writes)) for row in found]))


def info(options: argparse.Namespace) -> None:
    from .compiler import explain, inspected

    sizes = {name: getattr(options, name) for name in ("channels", "length", "kernel", "heads")
             if getattr(options, name) is not None}
    if options.ops != (options.directory is None):
        raise ValueError(f"info: requires DIR or --ops, but found {'both' if options.ops else 'neither'}")
    if sizes and not options.ops:
        raise ValueError(f"--{next(iter(sizes))}: requires --ops, but found a checkpoint or an artefact")
    if options.ops:
        return operators(options, sizes)
    if options.schedules:
        return schedules(options)
    if options.weights or options.dtype != "float32":
        raise ValueError(f"--weights, --dtype: require --schedules, but found --weights {options.weights} and --dtype "
                         f"{options.dtype} without")
    explanation = ""
    if is_artifact(options.directory):
        check_contents(options.directory)
        artifact = read_manifest(options.directory)
        manifest = artifact["model"]
    else:
        try:
            explanation = explain(options.directory)
        except Error as error:
            if not options.json:
                print(error.explanation, end="")
            raise
        manifest = inspected(options.directory)["manifest"]
        artifact = None
    facts: dict[str, Any] = {
        "class": manifest["model_class"], "parameters": elements(manifest["parameters"]),
        "tensors": len(manifest["parameters"]),
        **{key: manifest[key] for key in ("vocab_size", "max_positions", "type_vocab_size", "hidden_size",
                                          "labels", "inputs", "outputs") if key in manifest}}
    if artifact:
        facts["artifact"] = {key: artifact.get(key) for key in ("compiler", "source", "target", "dtype", "stored_weights")}
        facts["artifact"]["outputs"] = [name for name in artifact["entries"] if name]
    if options.json:
        console.print_json({**facts, "explanation": explanation.splitlines()} if explanation else facts)
        return
    print(f"class        {facts['class']}")
    print(f"parameters   {facts['parameters']:,} in {facts['tensors']} tensors")
    for key in ("hidden_size", "vocab_size", "max_positions", "type_vocab_size"):
        if key in facts:
            print(f"{key:<16} {facts[key]}")
    if facts.get("labels"):
        print(f"labels       {', '.join(facts['labels'])}")
    for key in ("inputs", "outputs"):
        for item in facts[key]:
            print(f"{key[:-1]:<12} {describe_array(item)}")
    if artifact:
        target = artifact["target"]
        stored = _types(artifact.get("dtype"), artifact.get("stored_weights"))
        print(f"artefact     compiled by {artifact.get('compiler')} for {target['name']} "
              f"({target['cpu']}, {target['isa']}{stored}) from {artifact.get('source')}")
    print(explanation, end="")


def verify(options: argparse.Namespace) -> int:
    from . import verification

    shape = (options.shape[0].batch, options.shape[0].length) if options.shape else None
    if not os.path.isdir(options.directory):
        raise Error(f"requires a checkpoint directory, but found none at {options.directory}")
    if options.bisect and (options.weights or options.dtype != "float32"):
        raise ValueError(f"--bisect: requires float32, but found --weights {options.weights} and --dtype {options.dtype}")
    with console.working(f"verifying {options.directory}"):
        if options.bisect:
            report = verification.bisect(options.directory, *options.bisect, shape=shape)
        else:
            report = verification.verify(options.directory, target=options.target, threads=options.threads, shape=shape,
                                         weights=options.weights, dtype=options.dtype)
    if options.json:
        console.print_json(report.to_dict())
        return 0 if report.ok else 1
    print(f"{report.model}, batch {report.shape[0]}, length {report.shape[1]}")
    if options.bisect:
        print(console.table(("step", "operation", "difference", "of its own", "allowed", "magnitude", ""),
                            [(row.step, row.operation, f"{row.error:.2e}", f"{row.own_error:.2e}", f"{row.bound:.2e}", f"{row.magnitude:.3g}",
                              "ok" if row.ok else "PARTS") for row in report.rows]))
        bad = next((row for row in report.rows if not row.ok), None)
        print("verdict: the two agree" if bad is None else f"verdict: they part at {bad.step} ({bad.operation})")
        return 0 if report.ok else 1
    print(console.table(("step", "operation", "error", "own error", "allowed", "magnitude", ""),
                        [(row.step, row.operation, f"{row.error:.2e}", f"{row.own_error:.2e}", f"{row.bound:.2e}",
                          f"{row.magnitude:.3g}", "ok" if row.ok else "WRONG") for row in report.rows]))
    if report.rounding is not None:
        print(f"largest difference from float64 without rounding to bfloat16: {report.rounding:.2e}")
    if report.transformers is not None:
        print(f"largest difference from transformers in float32: {report.transformers:.2e}")
    print(f"verdict: {report.verdict}")
    return 0 if report.ok else 1


def bench(options: argparse.Namespace) -> None:
    from .benchmark import benchmark
    from .peers import PEERS, installed

    names = {"none": [], "installed": installed()}.get(options.peers, options.peers.split(","))
    for name in names:
        if name not in PEERS:
            raise ValueError(f"--peers: requires names from {', '.join(PEERS)}, but found {name!r}")
    if not os.path.isdir(options.directory):
        raise Error(f"requires a checkpoint directory, but found none at {options.directory}")
    if not 0 < options.seconds <= 3600:
        raise ValueError(f"--seconds: requires a time in (0, 3600], but found {options.seconds}")
    result = benchmark(options.directory, options.shapes, threads=options.threads, target=options.target,
                       weights=options.weights, dtype=options.dtype, peers=names, seconds=options.seconds,
                       shown=lambda shapes: console.progress(shapes, "measuring", len(shapes)))
    if options.json:
        console.print_json(result.to_dict())
        return
    print(f"{result.model}: {result.parameters:,} parameters, {result.isa}"
          f"{_types(result.dtype, result.weights)}, {result.threads} "
          f"thread{'s' if result.threads > 1 else ''}")
    compiled = "found in the cache" if result.cached else f"compiled in {result.compile_ms / 1e3:.2f} s"
    print(f"{compiled}; weights packed in {result.prepack_ms:.1f} ms ({console.human_bytes(result.packed_bytes)}, "
          f"{result.prepack_gbps:.1f} GB/s, {result.prepack_gbps / result.copy_gbps:.0%} of a plain copy)")
    print(f"multiply-add peak in this run: {result.peak_gflops:.1f} GF/s; resident memory "
          f"{console.human_bytes(result.rss_bytes)}, of which calls took {console.human_bytes(result.call_bytes)}")
    others = [*names, *(["exact"] if any("exact" in m.peers for m in result.measurements) else [])]
    head = ["shape", "pads", "ms", "best ms", "GF/s", "of peak", *others]
    rows = [[m.shape, f"{m.pad_share:.0%}", f"{m.milliseconds:.3f}", f"{m.best_ms:.3f}", f"{m.gflops:.1f}", f"{m.share:.0%}",
             *(f"{m.peers[name].median_ms:.3f} ms ({m.peers[name].median_ms / m.milliseconds:.2f}x)"
               if name in m.peers else "" for name in others)]
            for m in result.measurements]
    print(console.table(head, rows))
