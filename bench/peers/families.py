#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that nobody tuned for, as QDQ ONNX models with random weights, timed beside ONNX Runtime.

  families.py make DIR [NAME...]                    writes DIR/NAME.onnx (all, or those named)
  families.py time DIR --bin BIN [NAME...]          times DIR/NAME.onnx, prints a table (Markdown)
  families.py operators DIR --bin BIN [NAME...]     operators that take over 2 %, and their share of the limit
  families.py list

NAME further stands for all of further_graphs.py; without names there are those of family_graphs.py.
Options of time: --threads 1,2 (default 1)  --rounds R (default 7)  --seconds S a turn (default 0.7)  --isa NAME
BIN is where qrt_convert and qrt_bench are; time needs ORT_DIR (README.md). Writing needs Python 3 alone.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from family_graphs import FAMILIES
from family_layers import Layers
from further_graphs import FURTHER

NETWORKS = {**FAMILIES, **FURTHER}
HERE = os.path.dirname(os.path.abspath(__file__))


def path_of(options, name):
    return os.path.join(options.dir, name + ".onnx")


def make(options):
    os.makedirs(options.dir, exist_ok=True)
    for name in options.names:
        layers = Layers(1)
        layers.write(path_of(options, name), *NETWORKS[name](layers))


def time_one(options, name, threads):
    """ONNX Runtime's and qrt's milliseconds (medians of the turns), their ratio, and that of the least times."""
    command = ["node", os.path.join(HERE, "vs_onnxruntime.mjs"), "--bin", options.bin, path_of(options, name),
               "--allow-float", "--threads", threads, "--rounds", str(options.rounds),
               "--seconds", str(options.seconds)]
    text = subprocess.run(command + (["--isa", options.isa] if options.isa else []), check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    theirs, ours, ratio, least = re.search(
        r" ([\d.]+) ms, qrt ([\d.]+) ms, ratio ([\d.]+) .*?; least .*? ratio ([\d.]+)", text).groups()
    return float(theirs), float(ours), float(ratio), float(least)


def time(options):
    print("| network | threads | ONNX Runtime, ms | qrt, ms | ratio | of least times |\n|---|---|---|---|---|---|")
    for threads in options.threads.split(","):
        logs = [0, 0]
        for name in options.names:
            theirs, ours, ratio, least = time_one(options, name, threads)
            logs = [logs[0] + math.log(ratio), logs[1] + math.log(least)]
            print(f"| {name} | {threads} | {theirs:.2f} | {ours:.2f} | {ratio:.2f} | {least:.2f} |", flush=True)
        means = [math.exp(v / len(options.names)) for v in logs]
        print(f"| geometric mean | {threads} | | | {means[0]:.2f} | {means[1]:.2f} |", flush=True)


def operators(options):
    print("| network | kernel | operators | share of the time | of the limit |\n|---|---|---|---|---|")
    for name in options.names:
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, name + ".qrt")
            convert = os.path.join(options.bin, "qrt_convert")
            subprocess.run([convert, path_of(options, name), "-o", model, "--allow-float"], check=True)
            command = [os.path.join(options.bin, "qrt_bench"), model, "--seconds", str(options.seconds), "--roofline",
                       "--format", "json"] + (["--isa", options.isa] if options.isa else [])
            ops = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["ops"]
        total, kinds = sum(op["time_ms"] or 0 for op in ops), {}
        for op in ops:
            kind = kinds.setdefault((op["type"], op["kernel"]), [0, 0, 0])
            kind[0] += op["time_ms"] or 0
            kind[1] += max(op.get("compute_ms") or 0, op.get("memory_ms") or 0)
            kind[2] += 1
        for (op, kernel), (ms, limit, count) in sorted(kinds.items(), key=lambda kind: -kind[1][0]):
            if ms > 0.02 * total:
                print(f"| {name} | {kernel} | {count} {op} | {100 * ms / total:.0f} % | {limit / ms:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "time", "operators", "list"])
    parser.add_argument("dir", nargs="?")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--bin")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.7)
    parser.add_argument("--isa", default="")
    options = parser.parse_intermixed_args()
    if options.what == "list":
        print("\n".join(NETWORKS))
        return
    if not options.dir or (options.what != "make" and not options.bin):
        parser.error(f"{options.what} needs DIR" + ("" if options.what == "make" else " and --bin"))
    options.names = [n for name in options.names for n in (FURTHER if name == "further" else [name])] or list(FAMILIES)
    for name in options.names:
        if name not in NETWORKS:
            parser.error(f"no network '{name}'; there are {', '.join(NETWORKS)}, and further")
    {"make": make, "time": time, "operators": operators}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
