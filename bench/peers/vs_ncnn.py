#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ncnn's int8 networks beside the same networks in qrt, in turns: ncnn's benchncnn takes random weights.

  vs_ncnn.py --benchncnn PROGRAM --params FOLDER --bin BIN NAME=MODEL.qrt...

NAME is a network of FOLDER, ncnn's benchmark/models: resnet18_int8. Prints a table (Markdown): the medians of the
turns' least times, their ratio (ncnn / qrt), and that of the least times of all. benchncnn gives least, greatest and mean.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys


def ncnn_ms(options, name):
    command = [os.path.abspath(options.benchncnn), str(options.loops), options.threads, "0", "-1", "0",
               f"param={name}.param", f"shape=[{options.size},{options.size},3]"]
    # benchncnn loads networks from its working directory and prints times to standard error.
    text = subprocess.run(command, check=True, cwd=options.params, text=True, stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE).stdout
    return float(re.search(r"min = +([\d.]+)", text).group(1))


def qrt_ms(options, model):
    command = [os.path.join(options.bin, "qrt_bench"), model, "--runs", str(options.loops), "--threads",
               options.threads, "--format", "json"] + (["--isa", options.isa] if options.isa else [])
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["latency_ms"]["min"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NAME=MODEL.qrt")
    parser.add_argument("--benchncnn", required=True)
    parser.add_argument("--params", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--size", default="224", help="rows and columns of the image (224)")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--loops", type=int, default=20, help="runs of a turn (20)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--isa", default="", help="most that qrt may take")
    options = parser.parse_args()
    print("| network | threads | ncnn, ms | qrt, ms | ratio | of least times |\n|---|---|---|---|---|---|")
    for network in options.networks:
        name, _, model = network.partition("=")
        if not model:
            parser.error(f"'{network}' is no NAME=MODEL.qrt")
        theirs, ours = zip(*((ncnn_ms(options, name), qrt_ms(options, model)) for _ in range(options.rounds)))
        ratio = statistics.median(t / o for t, o in zip(theirs, ours))
        print(f"| {name} | {options.threads} | {statistics.median(theirs):.2f} | {statistics.median(ours):.2f} | "
              f"{ratio:.2f} | {min(theirs) / min(ours):.2f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
