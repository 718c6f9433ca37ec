#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Provenance of files, as in-toto's statement with SLSA's predicate (version 1): the commit and the Debian packages that they were
made of, those of some groups of packages.txt. provenance.py COMMIT GROUP,... FILE... >qrt.provenance.json

QRT_HOMEPAGE is the project's address, QRT_BUILDER that of who builds. Nothing is signed here: sign SHA256SUMS, which has the result's.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
from urllib.parse import quote

HOMEPAGE = os.environ.get("QRT_HOMEPAGE", "https://qrt.example")
PACKAGES = pathlib.Path(__file__).resolve().parent.parent / "packages.txt"


def installed_packages(groups):
    rows = [line.split() for line in PACKAGES.read_text().splitlines() if line and line[0] != "#"]
    names = {name for group, name in rows if group in groups}
    found = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status} ${Package} ${Version} ${Architecture}\n", *sorted(names)],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    for line in sorted(found.splitlines()):
        status, name, *rest = line.split()
        if status == "installed":
            yield {"uri": f"pkg:deb/debian/{quote(name)}@{quote(rest[0])}?arch={rest[1]}"}


def statement(commit, groups, files):
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": os.path.basename(name), "digest": {"sha256": hashlib.sha256(pathlib.Path(name).read_bytes()).hexdigest()}}
                    for name in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{HOMEPAGE}/dev-release/v1",
                "externalParameters": {"command": "./dev release", "source": f"git+{HOMEPAGE}/qrt.git", "commit": commit},
                "internalParameters": {"SOURCE_DATE_EPOCH": int(os.environ["SOURCE_DATE_EPOCH"])},
                "resolvedDependencies": [{"uri": f"git+{HOMEPAGE}/qrt.git", "digest": {"gitCommit": commit}}, *installed_packages(groups)],
            },
            "runDetails": {"builder": {"id": os.environ.get("QRT_BUILDER", f"{HOMEPAGE}/dev-release/by-hand")}},
        },
    }


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    print(json.dumps(statement(sys.argv[1], sys.argv[2].split(","), sys.argv[3:]), indent=1))
