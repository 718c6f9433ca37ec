#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ports of vcpkg, Conan and Homebrew, made for the tarball of a release's sources.

    ports.py write VERSION TARBALL FOLDER    fills the files of ports/ in
    ports.py check VERSION TARBALL FOLDER    parses them, and runs them as far as stand-ins for these systems can
    ports.py build VERSION TARBALL FOLDER    the same, builds the library by vcpkg's port, and lets Ruby's linters look where they are there

QRT_RELEASE_URL is the address below which the tarball will be found, QRT_HOMEPAGE the project's.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

PORTS = pathlib.Path(__file__).resolve().parent / "ports"
HOMEPAGE = os.environ.get("QRT_HOMEPAGE", "https://qrt.example")


def facts(version, tarball):
    data = tarball.read_bytes()
    url = os.environ.get("QRT_RELEASE_URL", f"{HOMEPAGE}/releases/v{version}")
    return {"VERSION": version, "HOMEPAGE": HOMEPAGE, "URL": f"{url}/{tarball.name}",
            "SHA256": hashlib.sha256(data).hexdigest(), "SHA512": hashlib.sha512(data).hexdigest()}


def write(version, tarball, folder):
    known = facts(version, tarball)
    shutil.rmtree(folder, ignore_errors=True)
    for source in sorted(PORTS.rglob("*")):
        if source.is_file():
            target = folder / source.relative_to(PORTS)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(re.sub(r"@([A-Z0-9]+)@", lambda m: known[m[1]], source.read_text()))


def expect(condition, what):
    if not condition:
        sys.exit(f"ports.py: {what}")


def equal(found, wanted, what):
    expect(found == wanted, f"{what} is {found!r}, expected {wanted!r}")


# ---- vcpkg ----

# Stands in for vcpkg's scripts, as far as the portfile calls them: a release build, installed into PACKAGES; without BUILD the functions
# that need one do nothing.
VCPKG = r"""
cmake_minimum_required(VERSION 3.25)
set(CURRENT_PACKAGES_DIR ${PACKAGES})
set(CURRENT_HOST_INSTALLED_DIR ${PACKAGES}/host)
set(PORT qrt)
function(vcpkg_download_distfile result)
  cmake_parse_arguments(arg "" "FILENAME;SHA512" "URLS" ${ARGN})
  cmake_path(GET TARBALL FILENAME name)
  file(SHA512 ${TARBALL} sum)
  if(NOT sum STREQUAL arg_SHA512 OR NOT name STREQUAL arg_FILENAME OR NOT arg_URLS MATCHES "/${name}$")
    message(FATAL_ERROR "another tarball: ${ARGN}")
  endif()
  set(${result} ${TARBALL} PARENT_SCOPE)
endfunction()
function(vcpkg_extract_source_archive result)
  cmake_parse_arguments(arg "" "ARCHIVE" "" ${ARGN})
  file(ARCHIVE_EXTRACT INPUT ${arg_ARCHIVE} DESTINATION ${PACKAGES}/source)
  file(GLOB folder ${PACKAGES}/source/*)
  set(${result} ${folder} PARENT_SCOPE)
endfunction()
function(vcpkg_check_features)
  set(FEATURE_OPTIONS -DQRT_BUILD_TOOLS=OFF PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
  if(NOT BUILD)
    return()
  endif()
  cmake_parse_arguments(arg "" "SOURCE_PATH" "OPTIONS;OPTIONS_DEBUG" ${ARGN})
  list(FILTER arg_OPTIONS EXCLUDE REGEX QRT_FLATC)
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${arg_SOURCE_PATH} -B ${PACKAGES}/build -DCMAKE_BUILD_TYPE=Release
                  -DCMAKE_INSTALL_PREFIX=${PACKAGES} -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
  if(NOT BUILD)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${PACKAGES}/build -j ${JOBS} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${PACKAGES}/build OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(arg "" "CONFIG_PATH" "" ${ARGN})
  if(BUILD AND NOT EXISTS ${PACKAGES}/${arg_CONFIG_PATH}/qrtConfig.cmake)
    message(FATAL_ERROR "no qrtConfig.cmake in ${arg_CONFIG_PATH}")
  endif()
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(arg "" "" "FILE_LIST" ${ARGN})
  foreach(path IN LISTS arg_FILE_LIST)
    if(NOT EXISTS ${path})
      message(FATAL_ERROR "no ${path}")
    endif()
  endforeach()
endfunction()
include(${PORTFILE})
"""


def check_vcpkg(known, tarball, folder, builds):
    manifest = json.loads((folder / "vcpkg.json").read_text())
    equal(manifest["version"], known["VERSION"], "vcpkg.json: version")
    order = ["name", "version", "description", "homepage", "license", "supports", "dependencies", "features"]
    equal(list(manifest), order, "vcpkg.json: order of fields, that of `vcpkg format-manifest`,")
    equal((folder / "vcpkg.json").read_text(), json.dumps(manifest, indent=2) + "\n", "vcpkg.json")
    portfile = (folder / "portfile.cmake").read_text()
    expect(known["URL"] in portfile and known["SHA512"] in portfile, "portfile.cmake: another URL or SHA512")
    with tempfile.TemporaryDirectory() as packages:
        script = os.path.join(packages, "stand_ins.cmake")
        pathlib.Path(script).write_text(VCPKG)
        subprocess.run(["cmake", f"-DBUILD={builds}", f"-DPACKAGES={packages}", f"-DTARBALL={tarball}", f"-DPORTFILE={folder / 'portfile.cmake'}",
                        f"-DJOBS={os.environ.get('QRT_JOBS', os.cpu_count())}", "-P", script], check=True)
        built = ("include/qrt/qrt.h", "lib/libqrt.a", "lib/pkgconfig/qrt.pc")
        for name in ("share/qrt/usage", *(built if builds else ())):
            expect(os.path.isfile(os.path.join(packages, name)), f"portfile.cmake installs no {name}")


# ---- Conan ----

class Recorder:
    """Stands in for what a recipe imports from conan: any function of it may be called, and calls are kept by name."""

    def __init__(self):
        self.calls = {}

    def module(self, name, attributes):
        module = types.ModuleType(name)
        for attribute in attributes:
            setattr(module, attribute, lambda *a, _n=attribute, **k: self.calls.setdefault(_n, []).append((a, k)))
        sys.modules[name] = module
        return module


def check_conan(known, folder):
    data = {}
    for name in ("config.yml", "all/conandata.yml"):  # maps of maps of strings, which need no parser of YAML
        data[name] = dict(re.findall(r'^ +(\w+|"[^"]+"): *"?([^"\n]*)"?$', (folder / name).read_text(), re.M))
    version = f'"{known["VERSION"]}"'
    expect(version in data["config.yml"] and version in data["all/conandata.yml"], "Conan: another version")
    sources = {key: data["all/conandata.yml"].get(key) for key in ("url", "sha256")}
    equal(sources, {"url": known["URL"], "sha256": known["SHA256"]}, "conandata.yml: source")

    recorder = Recorder()
    recorder.module("conan", []).ConanFile = type("ConanFile", (), {})
    recorder.module("conan.tools", [])
    recorder.module("conan.tools.build", ["check_min_cppstd", "stdcpp_library", "can_run"])
    recorder.module("conan.tools.cmake", ["CMake", "CMakeToolchain", "cmake_layout"])
    recorder.module("conan.tools.env", ["VirtualBuildEnv"])
    recorder.module("conan.tools.files", ["copy", "get", "rmdir"])
    for recipe in ("all/conanfile.py", "all/test_package/conanfile.py"):
        names = {}
        exec(compile((folder / recipe).read_text(), recipe, "exec"), names)  # its imports find the stand-ins
        if recipe == "all/conanfile.py":
            conan = names["QrtConan"]()
            conan.version, conan.conan_data = known["VERSION"], {"sources": {known["VERSION"]: sources}}
            conan.source()
            equal(recorder.calls["get"][0][1], {**sources, "strip_root": True}, "conanfile.py: what source() gets")
            equal(set(conan.options), set(conan.default_options), "conanfile.py: options")


# ---- Homebrew ----

def check_homebrew(known, folder, lints):
    formula = folder / "qrt.rb"
    fields = dict(re.findall(r'^  (desc|homepage|url|sha256|license) "([^"]*)"$', formula.read_text(), re.M))
    for field, wanted in (("url", known["URL"]), ("sha256", known["SHA256"]), ("homepage", known["HOMEPAGE"])):
        equal(fields.get(field), wanted, f"qrt.rb: {field}")
    # Rules of `brew audit`.
    expect(len(fields["desc"]) < 80 and not re.match(r"(?i)(an?|the) |qrt", fields["desc"]) and fields["desc"][-1] != ".",
           "qrt.rb: desc")
    for words in ([], ["=> :build"]):
        names = re.findall(r'^  depends_on "([^"]+)"' + (" => :build$" if words else "$"), formula.read_text(), re.M)
        equal(names, sorted(names), "qrt.rb: order of depends_on")
    if lints and shutil.which("ruby"):
        subprocess.run(["ruby", "-wc", formula], check=True, stdout=subprocess.DEVNULL)
    if lints and shutil.which("rubocop"):  # without Homebrew's own rules, which only brew has; they want testpath/"name"
        done = subprocess.run(["rubocop", "--only", "Lint,Layout", "--except", "Layout/LineLength,Layout/SpaceAroundOperators", "--format", "emacs",
                               formula], stdout=subprocess.PIPE, text=True, check=False)
        expect(done.returncode == 0, done.stdout)


def check(version, tarball, folder, builds=False):
    known = facts(version, tarball)
    check_conan(known, folder / "conan")
    check_homebrew(known, folder / "homebrew", builds)
    check_vcpkg(known, tarball, folder / "vcpkg", builds)


def build(version, tarball, folder):
    check(version, tarball, folder, builds=True)


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] not in ("write", "check", "build"):
        sys.exit(__doc__)
    {"write": write, "check": check, "build": build}[sys.argv[1]](sys.argv[2], pathlib.Path(sys.argv[3]).resolve(), pathlib.Path(sys.argv[4]).resolve())
