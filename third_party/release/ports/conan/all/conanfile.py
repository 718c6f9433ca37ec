# SPDX-License-Identifier: Apache-2.0
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd, stdcpp_library
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.env import VirtualBuildEnv
from conan.tools.files import copy, get, rmdir

required_conan_version = ">=2.0.9"


class QrtConan(ConanFile):
    name = "qrt"
    description = "Exact and fast inference of quantised neural networks on CPUs"
    license = "Apache-2.0"
    url = "@HOMEPAGE@"
    homepage = "@HOMEPAGE@"
    topics = ("inference", "quantization", "int8", "onnx", "tflite", "neural-networks")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]

    def layout(self):
        cmake_layout(self, src_folder="src")

    def requirements(self):
        self.requires("flatbuffers/[>=2.0.8]", visible=False, libs=False)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")
        self.tool_requires("flatbuffers/<host_version>")

    def validate(self):
        check_min_cppstd(self, 17)

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        VirtualBuildEnv(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("BUILD_CONVERTER", "BUILD_TOOLS", "BUILD_TESTS", "FETCH_DEPS", "WITH_CPUINFO", "WITH_PTHREADPOOL"):
            toolchain.cache_variables["QRT_" + part] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        for name in ("LICENSE", "NOTICE"):
            copy(self, name, self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.libs = ["qrt"]
        self.cpp_info.set_property("cmake_file_name", "qrt")
        self.cpp_info.set_property("cmake_target_name", "qrt::qrt")
        self.cpp_info.set_property("pkg_config_name", "qrt")
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["m", "pthread"]
        if not self.options.shared and stdcpp_library(self):
            self.cpp_info.system_libs.append(stdcpp_library(self))
