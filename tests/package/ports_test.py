# SPDX-License-Identifier: Apache-2.0
"""The ports of vcpkg, Conan and Homebrew name the version, the address and the digests of a release's tarball, and `ports.py check` sees
where one does not. ports_test.py PORTS.PY VERSION"""
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

PORTS, VERSION = sys.argv[1:]


def ports(*arguments):
    return subprocess.run([sys.executable, "-B", PORTS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


with tempfile.TemporaryDirectory() as work:
    root = pathlib.Path(PORTS).resolve().parents[2]
    tarball, folder = os.path.join(work, f"qrt-{VERSION}.tar.gz"), os.path.join(work, "ports")
    with tarfile.open(tarball, "w:gz") as tar:
        for name in ("LICENSE", "NOTICE"):
            tar.add(os.path.join(root, name), f"qrt-{VERSION}/{name}")
    arguments = [VERSION, tarball, folder]
    for command in ("write", "check"):
        done = ports(command, *arguments)
        assert done.returncode == 0, done.stdout
    for path in sorted(pathlib.Path(folder).rglob("*")):
        assert not path.is_file() or "@" not in path.read_text().replace("@name", ""), f"{path}: not filled in"
    # Each wrong value is found.
    for name, field in (("vcpkg/vcpkg.json", f'"version": "{VERSION}"'), ("vcpkg/portfile.cmake", "SHA512 "),
                        ("vcpkg/portfile.cmake", 'URLS "https'), ("vcpkg/portfile.cmake", '/NOTICE"'), ("conan/config.yml", VERSION), ("conan/all/conandata.yml", 'sha256: "'),
                        ("conan/all/conandata.yml", "url: "), ("conan/all/conanfile.py", "strip_root=True"),
                        ("conan/all/conanfile.py", '"fPIC": True'), ("homebrew/qrt.rb", 'sha256 "'), ("homebrew/qrt.rb", 'url "'),
                        ("homebrew/qrt.rb", 'desc "Exact'), ("homebrew/qrt.rb", 'depends_on "jpeg')):
        path = pathlib.Path(folder, name)
        text = path.read_text()
        assert field in text, (name, field)
        other = {'desc "Exact': 'desc "A exact', "strip_root=True": "strip_root=False", '"fPIC": True': '"static": True',
                 'depends_on "jpeg': 'depends_on "zpeg', '/NOTICE"': '/NOTES"'}
        path.write_text(text.replace(field, other.get(field, field + "0"), 1))
        done = ports("check", *arguments)
        assert done.returncode != 0, f"{name}: {field} is not looked at"
        path.write_text(text)
print("ports_test: passed")
