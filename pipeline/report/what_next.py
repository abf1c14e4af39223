"""What to do about a build that was judged: which command settles what is open."""

from __future__ import annotations

from pipeline.core.variant import line_of
from pipeline.judge.advice import next_step
from pipeline.judge.build_again import same_build
from pipeline.judge.more_time import to_decide
from pipeline.report.compared_model import Comparison
from pipeline.report.model import ReportModel
from pipeline.report.repeat import asked_words


def not_current(model: ReportModel) -> str:
    """Return why a version was not made current when it was published, and what does it; or ""."""
    if not model.stays:
        return ""
    said = f"not made current when it was published: {model.stays}"
    if model.current_since:
        return f"{said}; it is current since {model.current_since}"
    if model.rejected:
        return said
    line = line_of(model.profile, model.variant)
    return f"{said}; `.venv/bin/pipeline rollback -p {line} --to {model.version}` makes it current"


def next_command(model: ReportModel) -> str:
    """Return what to do about a build that is not published or decided; "" for nothing.

    Whoever rejected it has decided.
    """
    if model.rejected:
        return ""
    if model.withheld:
        return f"the same build without {_not_again(model)} publishes it as it was judged"
    if model.stays and model.previous is not None and model.previous.worse_overall:
        return _settle(model, model.previous.version)
    line = line_of(model.profile, model.variant)
    if model.published:
        said = to_decide(model.verify, line, same_build(asked_words(model)))
    else:
        said = next_step(model.verify, line, _options(model))
    return "; ".join(filter(None, (against_before(model), said)))


def _not_again(model: ReportModel) -> str:
    """Name the options of a build that is not to publish, as far as it had them."""
    again = any(word.partition("=")[0] == "--from" for word in asked_words(model))
    return "`--no-publish` and `--from`" if again else "`--no-publish`"


def against_before(model: ReportModel) -> str:
    """Return what tells whether a build is slower than the version before; "" for no need.

    Its baseline is built from the same sources: what makes both slower, the verdict does not show.
    """
    if model.previous is None or not _is_doubtful(model, model.previous):
        return ""
    before = model.previous.version
    return f"{_directly(model, before)} tells whether it is slower than {before}"


def _is_doubtful(model: ReportModel, previous: Comparison) -> bool:
    """Return whether a refused build seems worse, or a published one left open whether it is."""
    if model.published:
        return model.direct is not None and model.direct.is_open
    return bool(previous.worse_overall)


def _directly(model: ReportModel, before: str) -> str:
    line = line_of(model.profile, model.variant)
    return f"`.venv/bin/pipeline diff -p {line} {before} {model.version} --measure`"


def _options(model: ReportModel) -> list[str]:
    """Return the options of that command, without what names the profile: it is named anew."""
    words, left = iter(asked_words(model)[2:]), list[str]()
    for word in words:
        if word in ("--profile", "--variant"):
            next(words)
        elif word != "--no-publish":
            left.append(word)
    return left


def _settle(model: ReportModel, before: str) -> str:
    """Return what settles whether a version is worse than the one that was current."""
    line = line_of(model.profile, model.variant)
    return (
        f"{_directly(model, before)} judges the two against each other; "
        f"`.venv/bin/pipeline reject -p {line} {model.version} --reason WHY` "
        "refuses this one for good"
    )


def harmless(model: ReportModel) -> str:
    """Return why a build with regressions passed; "" where it has none, or did not pass."""
    worse = any(one.kind == "regression" for one in model.findings)
    if not (worse and model.passed) or model.rejected:
        return ""
    refuse = "do not publish it" if model.withheld else "reject the version"
    return (
        "regressions did not stop this build; docs/verdicts.md says why. "
        f"If you mind them, {refuse}"
    )
