"""The result of run.py as JSON, as a table in Markdown, and as a plot."""

import json

#: Order and colours of the plot; what is missing in a run is left out.
ENGINES = {"convbert": "#c0392b", "openvino": "#2471a3", "onnxruntime": "#229954", "torch-compile": "#8e44ad",
           "zentorch": "#d35400", "iree": "#b7950b", "torch": "#7f8c8d"}


def rows(run):
    """One row a shape: its timings by engine, ours under `convbert`."""
    for m in run["measurements"]:
        ours = {"best_ms": m["best_ms"], "median_ms": m["milliseconds"]}
        yield m, {"convbert": ours, **m["peers"]}


def best_peer(timings, key):
    """Name and milliseconds of the fastest other engine; None if there is none."""
    others = {name: timing[key] for name, timing in timings.items() if name not in ("convbert", "exact")}
    return min(others.items(), key=lambda item: item[1]) if others else None


def packages(runs):
    """Versions of the other engines, of each package all that the runs had."""
    found = {}
    for run in runs:
        for name, number in run["packages"].items():
            found.setdefault(name, set()).add(number)
    return [f"{name} {' and '.join(sorted(numbers))}" for name, numbers in found.items()]


def table(result):
    """Markdown: best (median) milliseconds, our share of the peak, and ratios to the fastest other engine."""
    engines = ["convbert", *dict.fromkeys(name for run in result["runs"] for m in run["measurements"]
                                          for name in m["peers"] if name != "exact")]
    lines = ["; ".join([result["processor"], *packages(result["runs"])]), "",
             "Milliseconds: fastest call (median). `of peak`: share of the multiply-add peak measured between turns.",
             "`ahead`: fastest other engine over ours, by fastest call (by median). `exact`: padding=\"exact\".", "",
             "| size | threads | target | shape | pads | of peak | ahead | " + " | ".join(engines) + " | exact |",
             "|---" * (8 + len(engines)) + "|"]
    for run in result["runs"]:
        for m, timings in rows(run):
            best, median = best_peer(timings, "best_ms"), best_peer(timings, "median_ms")
            ahead = (f"{best[1] / m['best_ms']:.2f}x ({median[1] / m['milliseconds']:.2f}x) {best[0]}" if best else "")
            cells = [f"{timings[name]['best_ms']:.2f} ({timings[name]['median_ms']:.2f})" if name in timings else ""
                     for name in (*engines, "exact")]
            lines.append("| " + " | ".join([run["size"], str(run["threads"]), run["isa"], m["shape"],
                                            f"{m['pad_share']:.0%}", f"{m['share']:.0%}", ahead, *cells]) + " |")
    lines += ["", "`prepack` (share of the rate of a plain copy of memory); `calls`: memory beyond that of the loaded model.", "",
              "| size | threads | compile, s | prepack, ms | packed, MB | resident, MB | calls, MB | peak, GF/s |",
              "|---" * 8 + "|"]
    for run in result["runs"]:
        compiled = "cached" if run["cached"] else f"{run['compile_ms'] / 1e3:.2f}"
        lines.append(f"| {run['size']} | {run['threads']} | {compiled} | {run['prepack_ms']:.0f} "
                     f"({run['packed_bytes'] / run['prepack_ms'] * 1e-6 / run['copy_gbps']:.0%}) | "
                     f"{run['packed_bytes'] / 1e6:.0f} | {run['rss_bytes'] / 1e6:.0f} | {run['call_bytes'] / 1e6:.0f} | "
                     f"{run['peak_gflops']:.1f} |")
    return "\n".join(lines) + "\n"


def _size(shape):
    """By what shapes are put in order: batch times length, those of mixed lengths last."""
    batch, length = shape.split("x")
    return "-" in length, int(batch) * int(length.split("-")[-1]), int(batch)


def merge(path, runs):
    """The runs in the JSON file `path`, if there is one, with `runs` in place of those of the same kind; what those
    measured with the same engines on other shapes is kept."""
    def kind(run):
        return run["isa"], run["threads"], run["size"]

    old = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []
    found = {kind(run): run for run in old}
    for run in runs:
        before = found.get(kind(run), {})
        if before.get("packages") == run["packages"]:
            shapes = {m["shape"] for m in run["measurements"]}
            kept = [m for m in before["measurements"] if m["shape"] not in shapes]
            run = run | {"measurements": sorted(kept + run["measurements"], key=lambda m: _size(m["shape"]))}
        found[kind(run)] = run
    return [found[key] for key in sorted(found)]


def plot(result, path):
    """GF/s of every engine by shape with the peak as a line; sizes side by side, threads below each other."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    runs = result["runs"]
    columns = len({run["size"] for run in runs})
    lines = -(-len(runs) // columns)
    figure, axes = pyplot.subplots(lines, columns, figsize=(4.2 * columns, 3.6 * lines), squeeze=False,
                                  layout="constrained")
    for axis, run in zip(axes.flat, runs):
        names = [m["shape"] for m in run["measurements"]]
        for engine, colour in ENGINES.items():
            found = [(m["shape"], m["gflops"] * m["milliseconds"] / timings[engine]["best_ms"])
                     for m, timings in rows(run) if engine in timings]
            if found:
                axis.plot(*zip(*found), "o-", color=colour, label=engine, linewidth=2 if engine == "convbert" else 1)
        axis.plot(names, [m["peak_gflops"] for m in run["measurements"]], "k--", linewidth=1, label="multiply-add peak")
        axis.set_title(f"{run['size']}, {run['threads']} thread{'s' if run['threads'] > 1 else ''}, {run['isa']}")
        axis.set_ylim(bottom=0)
        axis.tick_params(axis="x", rotation=30)
    for axis in axes.flat[len(runs):]:
        axis.set_axis_off()
    for row in axes:
        row[0].set_ylabel("GF/s of the fastest call")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(ENGINES) + 1, fontsize=8)
    figure.suptitle(result["processor"], fontsize=9)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def write(result, folder, name):
    """Writes NAME.json, NAME.md and, with matplotlib, NAME.png; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{suffix}" for suffix in ("json", "md")]
    paths[0].write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    paths[1].write_text(table(result), encoding="utf-8")
    try:
        plot(result, folder / f"{name}.png")
        paths.append(folder / f"{name}.png")
    except ImportError:
        print("bench: no plot, as there is no matplotlib")
    return paths
