"""Where the linker puts code, so that the system maps no more of it than a program executes.

The first touch of a page maps what lies around it in the same mapping, up to 64 KiB. So code that
never ran in the training becomes a mapping of its own, and so does what BOLT leaves behind of the
code that it moves; read-only sections lie between them.
"""

from __future__ import annotations

from collections.abc import Iterable

NEVER = ".text.never"
# The rest lies where the linker puts it. Relocated data begins on a page, not in the middle of one.
_SCRIPT = """\
SECTIONS {{
  .rodata : {{ *(.rodata .rodata.* .stapsdt.base) }}
  .init : {{ *(.init) }}
  .fini : {{ *(.fini) }}
  .plt : {{ *(.plt) }}
  .eh_frame_hdr : {{ *(.eh_frame_hdr) }}
{never}}} INSERT BEFORE .eh_frame;
SECTIONS {{
  .text : {{ *(.text .text.*) }}
  .tdata (ALIGN(CONSTANT(MAXPAGESIZE))) : {{ *(.tdata .tdata.*) }}
}} INSERT AFTER .eh_frame;
"""


def link_script(never: Iterable[str]) -> str:
    """Return a script for lld that puts the functions ``never`` into a section of that name.

    They must have been compiled into sections of their own; without any, there is no such section.
    """
    kinds = ("", "hot.", "unlikely.")
    sections = " ".join(f".text.{kind}{name}" for name in sorted(set(never)) for kind in kinds)
    line = f"  {NEVER} : {{ *({sections}) }}\n" if sections else ""
    return _SCRIPT.format(never=line)
