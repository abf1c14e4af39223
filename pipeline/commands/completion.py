"""Completion in bash of words with a colon or an equals sign: `mixed:current`, `--profile=mixed`.

bash cuts a word into pieces there. click takes each piece for a word, and so completes nothing.
Here bash hands over the whole line, and gets back what stands behind the last cut.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    split_arg_string,
)

CUTS = ":="
_LINE = 'COMP_LINE="${COMP_LINE:0:$COMP_POINT}" COMP_BREAKS="$COMP_WORDBREAKS" '


@add_completion_class
class WholeWords(BashComplete):
    """click's completion for bash, by the line in place of its pieces."""

    _typed = ""
    source_template: ClassVar[str] = BashComplete.source_template.replace(
        "env COMP_WORDS=", f"env {_LINE}COMP_WORDS="
    )

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and what was typed of the last one."""
        line = os.environ.get("COMP_LINE")
        if line is None:
            return super().get_completion_args()
        words = split_arg_string(line)
        last = words.pop() if words and not line[-1].isspace() else ""
        self._typed = last.partition("=")[2] if last.startswith("-") else last
        return words[1:], last

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return what bash puts in place of the last piece."""
        return f"{item.type},{item.value[self._kept(item.value) :]}"

    def _kept(self, value: str) -> int:
        """Return how much of ``value`` stands before the last cut of what was typed."""
        cuts = [one for one in CUTS if one in os.environ.get("COMP_BREAKS", "")]
        at = 1 + max((self._typed.rfind(one) for one in cuts), default=-1)
        return at if value.startswith(self._typed[:at]) else 0
