"""Conan 2 recipe: builds this tree plainly, as a shared or a static library."""

from __future__ import annotations

from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy, load, rm, rmdir

ROOT = Path(__file__).resolve().parents[2]


class HakmemRecipe(ConanFile):
    """The package: the header with libhakmem.so, or with libhakmem.a where `shared` is False."""

    name = "hakmem"
    license = "MIT"
    description = "A malloc replacement that is compiled for a workload"
    package_type = "library"
    settings = ("os", "arch", "compiler", "build_type")
    options = {"shared": [True, False]}  # noqa: RUF012  (Conan reads it so)
    default_options = {"shared": True}  # noqa: RUF012
    generators = ("CMakeToolchain",)

    def set_version(self) -> None:
        """Take the version of the tree."""
        self.version = load(self, str(ROOT / "VERSION")).strip()

    def export_sources(self) -> None:
        """Take what a plain build needs of the tree."""
        for pattern in ("CMakeLists.txt", "VERSION", "LICENSE", "allocator/*", "cmake/*"):
            copy(self, pattern, str(ROOT), self.export_sources_folder)

    def layout(self) -> None:
        """Keep the build apart from the sources."""
        cmake_layout(self)

    def build(self) -> None:
        """Build both libraries."""
        cmake = CMake(self)
        off = {f"HAKMEM_{part}": "OFF" for part in ("BENCH", "TRAINING", "TESTS")}
        cmake.configure(variables=off)
        cmake.build()

    def package(self) -> None:
        """Install what `cmake --install` installs, but one library, so that -lhakmem is that one.

        Conan's generators write the CMake package and the pkg-config file of their own.
        """
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder) / "licenses"))
        CMake(self).install()
        folder = Path(self.package_folder) / "lib"
        rm(self, "libhakmem.a" if self.options.shared else "libhakmem.so", str(folder))
        for made in ("cmake", "pkgconfig"):
            rmdir(self, str(folder / made))

    def package_info(self) -> None:
        """Name the library and its CMake target."""
        self.cpp_info.libs = ["hakmem"]
        self.cpp_info.set_property("cmake_file_name", "hakmem")
        shared = bool(self.options.shared)
        self.cpp_info.set_property(
            "cmake_target_name", "hakmem::hakmem" if shared else "hakmem::static"
        )
