# SPDX-License-Identifier: Apache-2.0
"""The wheel's tag: any Python 3, and the platform that the libraries in qrt/lib are for."""
import glob
import re
import struct

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel

MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}  # e_machine of ELF


def platform():
    """manylinux_2_34_x86_64: the least glibc that has all versions of symbols that they ask for."""
    glibc, machines = (2, 17), set()
    for path in glob.glob("qrt/lib/*.so*"):
        with open(path, "rb") as file:
            data = file.read()
        if data[:4] != b"\x7fELF":
            continue  # a licence
        machines.add(struct.unpack_from("<H", data, 18)[0])
        for version in re.findall(rb"GLIBC_(\d+)\.(\d+)", data):
            glibc = max(glibc, (int(version[0]), int(version[1])))
    if len(machines) != 1:
        raise SystemExit("setup.py: no library of one machine in qrt/lib: build the target `wheel`")
    return "manylinux_%d_%d_%s" % (glibc + (MACHINES[machines.pop()],))


class Wheel(bdist_wheel):

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", platform()


class WithLibraries(Distribution):

    def has_ext_modules(self):
        return True  # they are installed with the platform's files


setup(cmdclass={"bdist_wheel": Wheel}, distclass=WithLibraries)
