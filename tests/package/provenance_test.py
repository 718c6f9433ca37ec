# SPDX-License-Identifier: Apache-2.0
"""The provenance names each file with its digest, the commit, and the versions of the installed packages of the groups that it is told.
provenance_test.py PROVENANCE.PY"""
import hashlib
import json
import os
import subprocess
import sys

COMMIT = "0123456789abcdef0123456789abcdef01234567"
text = subprocess.run([sys.executable, "-B", sys.argv[1], COMMIT, "build,static", __file__], check=True, stdout=subprocess.PIPE, text=True,
                      env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}).stdout
statement = json.loads(text)
assert statement["_type"] == "https://in-toto.io/Statement/v1" and statement["predicateType"] == "https://slsa.dev/provenance/v1"
with open(__file__, "rb") as file:
    assert statement["subject"] == [{"name": "provenance_test.py", "digest": {"sha256": hashlib.sha256(file.read()).hexdigest()}}]
build = statement["predicate"]["buildDefinition"]
assert build["externalParameters"]["commit"] == COMMIT
source, *packages = build["resolvedDependencies"]
assert source["digest"] == {"gitCommit": COMMIT}
versions = dict(package["uri"].split("?")[0].rsplit("@", 1) for package in packages)
installed = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "cmake"], check=True, stdout=subprocess.PIPE, text=True).stdout
assert versions["pkg:deb/debian/cmake"] == installed, versions
assert "pkg:deb/debian/doxygen" not in versions, "of another group"
