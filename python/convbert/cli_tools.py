"""convbert cache, doctor"""

from __future__ import annotations

import argparse
import os
import time

from . import console
from . import cache as store


def cache(options: argparse.Namespace) -> None:
    directory = options.dir or store.default_directory()
    if options.what == "clear":
        count, won = store.clear(directory)
        if options.json:
            console.print_json({"directory": directory, "removed": count, "bytes": won})
        else:
            print(f"removed {count} entries, {console.human_bytes(won)}, from {directory}")
        return
    found = store.entries(directory)
    total = sum(entry.bytes for entry in found)
    if options.json:
        console.print_json({"directory": directory, "bytes": total, "limit": store.limit(), "entries": [
            {"path": entry.path, "bytes": entry.bytes, "last_used": entry.last_used, **entry.note} for entry in found]})
        return
    rows = []
    for entry in found:
        note = entry.note
        what = "unpacked weights" if "unpacked" in note else note.get("checkpoint", "unknown")
        if "function" in note:
            what = f"function {note['function']}"
        if note.get("outputs"):
            what += f" ({', '.join(note['outputs'])})"
        rows.append((os.path.basename(entry.path), console.human_bytes(entry.bytes),
                     time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.last_used)),
                     note.get("target", {}).get("isa", ""), what))
    if rows:
        print(console.table(("key", "size", "last used", "isa", "checkpoint"), rows))
    print(f"{len(found)} entries, {console.human_bytes(total)} of {console.human_bytes(store.limit())}, in {directory}")


def doctor(options: argparse.Namespace) -> int:
    from .doctor import examine, healthy

    facts = examine()
    if options.json:
        console.print_json(facts)
        return 0 if healthy(facts) else 1
    versions, cpu, place = facts["versions"], facts["cpu"], facts["cache"]
    for name, version in versions.items():
        print(f"{name:<12} {version or 'missing'}")
    isa = f"{cpu['isa']} ({cpu['target']})" if cpu["isa"] else "too old"
    print(f"{'cpu':<12} {cpu['name']}, {isa}, {cpu['threads'] or 'unknown'} available")
    print(f"{'features':<12} {' '.join(cpu['features'])}")
    print(f"{'cache':<12} {place['directory']}, {place['entries']} entries, {console.human_bytes(place['bytes'])} of "
          f"{console.human_bytes(place['limit'])}")
    print(f"{'linker':<12} {facts['linker'] or 'missing'}")
    print(f"{'gpu driver':<12} {facts['gpu_driver'] or 'none'}")
    packages = [f"{name} {version}" for name, version in facts["packages"].items() if version]
    print(f"{'packages':<12} {', '.join(packages)}")
    for problem in facts["problems"]:
        print(f"missing: {problem['missing']}, for {problem['for']}")
    good = healthy(facts)
    print("verdict: ready" if good else "verdict: something essential is missing")
    return 0 if good else 1
