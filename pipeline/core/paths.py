"""Where things lie in a tree: one class, so that no other module builds such paths by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import UsageError
from pipeline.core.home import is_tree, own_root


def from_here(path: Path | str) -> str:
    """Return a path as seen from the current directory if it lies below; else as it is."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # somebody has removed it
        return str(path)
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else str(path)


BUILT_FROM = (
    *("CMakeLists.txt", "VERSION", "cmake", "allocator", "bench", "training", "layouts"),
    "pipeline",
)
"""All that a build reads of a tree, beside traces that its profile names."""


@dataclass(frozen=True)
class Tree:
    """A checkout of hakmem and the folders that the pipeline keeps in it."""

    root: Path

    @classmethod
    def here(cls) -> Tree:
        """Return the tree that this package belongs to; UsageError if it lies in none."""
        root = own_root()
        if not is_tree(root):
            raise UsageError(
                "this folder is not in a tree of hakmem",
                hint="change into a clone of hakmem; `./bootstrap` there sets it up",
            )
        return cls(root)

    @property
    def version(self) -> str:
        """The version of the library, from the file VERSION."""
        return (self.root / "VERSION").read_text(encoding="utf-8").strip()

    @property
    def profiles(self) -> Path:
        """The folder of profile files."""
        return self.root / "training" / "profiles"

    @property
    def state(self) -> Path:
        """The folder of everything that can be made again: artifacts, logs, the lock."""
        return self.root / "build" / "pipeline"

    def artifacts(self, profile: str) -> Path:
        """Return the folder of a profile's stage artifacts."""
        return self.state / profile

    def logs(self, profile: str) -> Path:
        """Return the folder of a profile's child process logs."""
        return self.state / profile / "logs"

    def reports(self, profile: str) -> Path:
        """Return the folder with the reports of a profile's judged builds, published or not."""
        return self.state / profile / "reports"

    @property
    def dists(self) -> Path:
        """The folder of the folders in which versions are published, one for each profile."""
        return self.root / "dist"

    def dist(self, profile: str) -> Path:
        """Return the folder where a profile's versions are published."""
        return self.dists / profile

    def layout(self, layout: str) -> Path:
        """Return the folder with the symbol lists of a layout."""
        return self.root / "layouts" / layout

    def geometry(self, profile: str, cpu: str | None = None) -> Path:
        """Return the file that says how the allocator is cut for a profile; it need not exist.

        Without ``cpu`` the one that holds for all processors, else what one kind adds to it.
        """
        return self.layout(profile) / (f"geometry-{cpu}.toml" if cpu else "geometry.toml")

    def imported(self, profile: str) -> Path:
        """Return the folder of profiles from elsewhere that a profile's builds take in."""
        return self.root / "training" / "imported" / profile
