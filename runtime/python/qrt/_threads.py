# SPDX-License-Identifier: Apache-2.0
"""How many threads a session gets that does not say: as many CPUs as this process may use."""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator


def default_threads() -> int:
    """The CPUs of the affinity mask (taskset, cpusets), at most what the cgroup's quota pays for.

    A quota of 2.5 CPUs gives 2: a run waits for its slowest thread, and with 3 the kernel would
    stop one of them in every period.
    """
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        cpus = os.cpu_count() or 1
    quota = cgroup_quota()
    return max(1, min(cpus, int(quota))) if quota is not None else max(1, cpus)


def cgroup_quota(proc: str = "/proc/self/cgroup", root: str = "/sys/fs/cgroup") -> float | None:
    """CPUs that the cgroup of this process and those above it allow, None without a limit."""
    quotas = []
    for line in (_read(proc) or "").splitlines():
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if controllers == "":  # version 2: "0::/user.slice"
            for folder in _upwards(root, path):
                quotas.append(_ratio(*(_read(folder + "/cpu.max") or "").split()[:2]))
        elif "cpu" in controllers.split(","):  # version 1: "4:cpu,cpuacct:/docker/0123"
            for mount in (controllers, "cpu"):
                for folder in _upwards(root + "/" + mount, path):
                    quotas.append(_ratio(_read(folder + "/cpu.cfs_quota_us"),
                                         _read(folder + "/cpu.cfs_period_us")))
    return min((q for q in quotas if q is not None), default=None)


def _upwards(root: str, path: str) -> Iterator[str]:
    """root/a/b, root/a, root. In a container the path may be the host's: then only root is there."""
    parts = [p for p in path.split("/") if p not in ("", "..")]
    for n in range(len(parts), -1, -1):
        yield "/".join([root] + parts[:n])


def _ratio(quota: str | None = None, period: str | None = None) -> float | None:
    try:
        q, p = int(quota or ""), int(period or "")
    except ValueError:  # "max", or no such file
        return None
    return q / p if q > 0 and p > 0 else None


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None
