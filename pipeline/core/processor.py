"""Kinds of processors by name, such as amd-zen3: what a geometry may be for, beside a workload.

The one table of names stands here. Its sources are in Linux 6.18: the models of Intel in
arch/x86/include/asm/intel-family.h, the generations of AMD in arch/x86/kernel/cpu/amd.c
(bsp_init_amd), the parts of Arm in arch/arm64/include/asm/cputype.h. Processors with the same core
have one name, whatever they are sold for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pipeline.core.architecture import AARCH64, HERE, X86_64, Architecture
from pipeline.core.architecture import ALL as ARCHITECTURES
from pipeline.core.errors import UsageError
from pipeline.core.spelling import nearest_words

CPUINFO = Path("/proc/cpuinfo")
ANY = "any"
"""In place of a name: whatever processor it is."""

ALL = "all"
"""In place of a name: a library for all processors, and beside it one for each kind."""

Models = tuple[tuple[int, int], ...]  # first and last of each range

_INTEL: dict[str, tuple[int, ...]] = {
    "nehalem": (0x1E, 0x1F, 0x1A, 0x2E),
    "westmere": (0x25, 0x2C, 0x2F),
    "sandybridge": (0x2A, 0x2D),
    "ivybridge": (0x3A, 0x3E),
    "haswell": (0x3C, 0x3F, 0x45, 0x46),
    "broadwell": (0x3D, 0x47, 0x4F, 0x56),
    "skylake": (0x4E, 0x5E, 0x8E, 0x9E, 0xA5, 0xA6),  # and its client heirs
    "skylake-x": (0x55,),  # also Cascade Lake and Cooper Lake
    "cannonlake": (0x66,),
    "icelake": (0x6A, 0x6C, 0x7D, 0x7E, 0x9D),
    "rocketlake": (0xA7,),
    "tigerlake": (0x8C, 0x8D),
    "sapphirerapids": (0x8F,),
    "emeraldrapids": (0xCF,),
    "graniterapids": (0xAD, 0xAE),
    "alderlake": (0x97, 0x9A),
    "raptorlake": (0xB7, 0xBA, 0xBF),
    "meteorlake": (0xAC, 0xAA),
    "arrowlake": (0xC5, 0xC6, 0xB5),
    "lunarlake": (0xBD,),
}
_AMD: dict[str, tuple[int, Models]] = {
    "zen1": (0x17, ((0x00, 0x2F), (0x50, 0x5F))),
    "zen2": (0x17, ((0x30, 0x4F), (0x60, 0x7F), (0x90, 0x91), (0xA0, 0xAF))),
    "zen3": (0x19, ((0x00, 0x0F), (0x20, 0x5F))),
    "zen4": (0x19, ((0x10, 0x1F), (0x60, 0xAF))),
    "zen5": (0x1A, ((0x00, 0x2F), (0x40, 0x4F), (0x60, 0x7F))),
}
_ARM_ARCHITECTURE = 8  # in place of a family: that of Armv9, too, for the kernel
_ARM: dict[str, int] = {
    "cortex-a72": 0xD08,
    "cortex-a76": 0xD0B,
    "neoverse-n1": 0xD0C,
    "neoverse-v1": 0xD40,
    "neoverse-n2": 0xD49,
    "neoverse-v2": 0xD4F,
    "neoverse-v3": 0xD84,
    "neoverse-n3": 0xD8E,
}
_AMPERE: dict[str, int] = {"1": 0xAC3, "1a": 0xAC4}
TABLE: tuple[tuple[str, int, Models, str], ...] = (
    *(
        ("intel", 6, tuple((model, model) for model in models), f"intel-{name}")
        for name, models in _INTEL.items()
    ),
    *(("amd", family, models, f"amd-{name}") for name, (family, models) in _AMD.items()),
    *(
        (vendor, _ARM_ARCHITECTURE, ((part, part),), f"{vendor}-{name}")
        for vendor, parts in (("arm", _ARM), ("ampere", _AMPERE))
        for name, part in parts.items()
    ),
)
"""Vendor, family, models and name."""

VENDORS = {
    "GenuineIntel": "intel",
    "AuthenticAMD": "amd",
    "HygonGenuine": "hygon",
    "CentaurHauls": "centaur",
    "Shanghai": "zhaoxin",
    "0x41": "arm",
    "0x48": "hisilicon",
    "0x4e": "nvidia",
    "0x51": "qualcomm",
    "0x61": "apple",
    "0xc0": "ampere",
}
"""What the kernel calls a vendor. A model that the table lacks is called like its vendor."""

OTHER = "other"
"""The name of a processor of which not even the vendor is known."""

NAMES = (*(name for *_, name in TABLE), *VENDORS.values(), OTHER)


@dataclass(frozen=True)
class Processor:
    """A processor: the name of its kind, how the kernel describes it, what it can do."""

    name: str
    described: str
    features: frozenset[str]
    architecture: Architecture = HERE

    def missing(self, level: str) -> tuple[str, ...]:
        """Return the features that ``level`` needs and this processor lacks, sorted.

        A level of another architecture is such a feature itself.
        """
        levels = self.architecture.levels
        if level not in levels:
            return (level,)
        upto = list(levels).index(level) + 1
        needed = frozenset[str]().union(*list(levels.values())[:upto])
        return tuple(sorted(needed - self.features))


@cache
def machine(cpuinfo: Path = CPUINFO, architecture: Architecture = HERE) -> Processor:
    """Return the processor of this machine; a kernel that does not tell has one called OTHER."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    fields = dict(re.findall(r"^([^\t:]+?)\s*: *(.*)$", text.split("\n\n")[0], re.M))
    return (_arm if architecture is AARCH64 else _x86)(fields)


def _x86(fields: dict[str, str]) -> Processor:
    vendor = VENDORS.get(fields.get("vendor_id", "").strip(), OTHER)
    family, model = _number(fields, "cpu family"), _number(fields, "model")
    return Processor(
        name=name_of(vendor, family, model),
        described=f"{fields.get('model name', 'unknown')} (family {family}, model {model})",
        features=frozenset(fields.get("flags", "").split()),
        architecture=X86_64,
    )


def _arm(fields: dict[str, str]) -> Processor:
    implementer, part = fields.get("CPU implementer", "").strip(), _number(fields, "CPU part")
    name = name_of(VENDORS.get(implementer, OTHER), _number(fields, "CPU architecture"), part)
    return Processor(
        name=name,
        described=f"{name} (implementer {implementer or 'unknown'}, part {part:#x})",
        features=frozenset(fields.get("Features", "").split()),
        architecture=AARCH64,
    )


def name_of(vendor: str, family: int, model: int) -> str:
    """Return the name of a kind; that of the vendor where the table does not know the model."""
    for of, generation, ranges, name in TABLE:
        known = any(first <= model <= last for first, last in ranges)
        if (of, generation) == (vendor, family) and known:
            return name
    return vendor


def nearest(name: str) -> tuple[str, ...]:
    """Return whose geometry fits a processor, the best first: its own, then its vendor's."""
    vendor = name.split("-", maxsplit=1)[0]
    return () if name == ANY else tuple(dict.fromkeys((name, vendor)))


def require_known(name: str) -> str:
    """Return ``name``; UsageError unless it is in the table, or ANY."""
    if name in (one.kernel for one in ARCHITECTURES):
        raise UsageError(
            f"{name} is an architecture, not a kind of processor",
            hint=f"`.venv/bin/pipeline bundle import FILE --cpu {name}` makes a library for "
            "another one",
        )
    if name not in (*NAMES, ANY):
        close = " or ".join(nearest_words(name, (*NAMES, ANY)))
        meant = f"did you mean {close}? " if close else ""
        raise UsageError(
            f"there is no processor {name!r}",
            hint=f"{meant}this machine has {machine().name}; docs/geometry.md lists all names",
        )
    return name


def _number(fields: dict[str, str], name: str) -> int:
    try:
        return int(fields.get(name, "").strip(), 0)  # Arm's parts are written in hexadecimal
    except ValueError:
        return -1
