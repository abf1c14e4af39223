"""What ``--allow-regression`` may name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.profile.schema import Profile


def refuse_unknown(profile: Profile, allowed: tuple[str, ...]) -> None:
    """Raise UsageError for a regression that no judgement of this profile can name."""
    if not allowed:
        return
    from pipeline.core.errors import UsageError
    from pipeline.judge.regressions import OVERALL, PROGRAMS

    timed = (one.name for one in profile.verifying if one.kind != "command" or one.timed)
    known = [OVERALL, PROGRAMS, *timed]
    unknown = [name for name in allowed if name not in known]
    if unknown:
        raise UsageError(
            f"--allow-regression {unknown[0]}: profile {profile.name!r} judges no such workload",
            hint=f"one of: {', '.join(known)}",
        )
