"""A rebuild from a bundle, as one straight page: no training, and the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pipeline.core.errors import ArtifactError
from pipeline.rebuild.consent import COMMANDS, require_consent
from pipeline.rebuild.differences import differences, flag_differences, refuse_others
from pipeline.rebuild.imported import Imported, bundled_factors, imported_setup, kept_verdict
from pipeline.rebuild.step import compile_step
from pipeline.release.bundle import Bundle
from pipeline.stages.build.baseline import Baseline, baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.record import record
from pipeline.stages.build.slowdown import slowdown
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.static import Archive, static
from pipeline.stages.proof.against_current import against_current
from pipeline.stages.proof.candidate import Candidate
from pipeline.stages.proof.verify import Verdict, verify
from pipeline.stages.publish.publish import Published, check_writable, publish
from pipeline.stages.publish.release import Release
from pipeline.toolchain.profdata import PROFDATA

if TYPE_CHECKING:
    from pipeline.judge.direct_speed import DirectSpeed
    from pipeline.release.version import Version


def rebuild(shop: Workshop, imported: Imported, allowed: frozenset[str]) -> Published:
    """Build the bundle's version again and publish it.

    The same bytes carry the verdict that the bundle brings, with what was accepted of it; other
    bytes are judged anew, and nothing is accepted that this user has not accepted. What differs and
    is not ``allowed`` is refused: ToolError or DataError.
    """
    check_writable(shop.tree.dist(shop.line))
    setup, factors = imported_setup(shop, imported), bundled_factors(imported)
    early = refuse_others(differences(shop, setup, imported), allowed)
    if early:  # it will be judged: ask before anything is built
        require_consent(shop.tree, shop.profile, allowed)
    plain = baseline(shop, setup)
    profile = imported.profdata(PROFDATA)
    archive = static(shop, setup, profile)
    candidate = compile_step(shop, setup, plain, imported)
    late = refuse_others(flag_differences(shop, imported.bundle), allowed)
    identical = _compare(
        shop, imported.bundle, candidate, archive, {*early, *late, *allowed} - {COMMANDS}
    )
    kept = kept_verdict(imported, candidate.library) if identical else None
    if kept is None:
        require_consent(shop.tree, shop.profile, allowed)
    else:
        shop = accepting_as(shop, imported.bundle)
    verdict, against = (kept, None) if kept else _judge(shop, setup, plain, candidate)
    release = Release(
        candidate=candidate,
        archive=archive,
        profile=profile,
        factors=factors,
        verdict=verdict,
        geometry=setup.geometry,
        inputs=imported.profile,
        against=against,
        rebuilt_from={
            "version": imported.bundle.version,
            "bundle": imported.digest,
            "bit_identical": identical,
            "verdict_kept": kept is not None,
            "differences": {**early, **late},
        },
    )
    return publish(shop, release)


def accepting_as(shop: Workshop, bundle: Bundle) -> Workshop:
    """Return the surroundings in which all is accepted that was when the bundle's verdict fell."""
    options = replace(
        shop.options,
        allow_neutral=shop.options.allow_neutral or bundle.allow_neutral,
        allow_regression=(*shop.options.allow_regression, *bundle.allow_regression),
    )
    return replace(shop, options=options)


def _compare(
    shop: Workshop, bundle: Bundle, candidate: Candidate, archive: Archive, expected: set[str]
) -> bool:
    """Return whether both libraries have the bundle's bytes; ArtifactError if they had to."""
    identical = (candidate.library.digest, archive.digest) == (bundle.library, bundle.archive)
    if not identical and not expected:
        raise ArtifactError(
            "the rebuilt library is not bit-identical to the one that the bundle was made with, "
            "though sources, tools and flags are the same",
            hint="`--allow tools` takes it as a new build all the same, and judges it",
        )
    alike = "bit-identical to" if identical else "other bytes than"
    shop.console.say(f"the rebuilt library: {alike} {bundle.version}")
    return identical


def _judge(
    shop: Workshop, setup: Setup, plain: Baseline, candidate: Candidate
) -> tuple[Verdict, Callable[[Version], DirectSpeed | None]]:
    """Judge it by the workloads that judge: no command of the training runs, and none was shown.

    Return also what judges it against another version's library, by the same workloads.
    """
    judging = replace(setup, traces=tuple(one for one in setup.traces if one.role == "verify"))
    slowed = slowdown(shop, judging)
    played, library = record(shop, judging), candidate.library
    verdict = verify(shop, played, plain, library, slowed)
    return verdict, partial(against_current, shop, played, plain, library)
