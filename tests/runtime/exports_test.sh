#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library exports qrt_* and nothing else, and every function of the headers.
# exports_test.sh NM LIBRARY HEADER...
set -eu
nm=$1 library=$2
shift 2
exported=$("$nm" -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' | sort -u)
declared=$(sed -n 's/^QRT_API .*[ *]\(qrt_[a-z_]*\)(.*/\1/p' "$@" | sort -u)
if [ "$exported" != "$declared" ]; then
  echo "exported:" $exported
  echo "declared:" $declared
  exit 1
fi
