"""``pipeline learn``: what the statistics of production suggest, judged before it is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import EXISTING_FILE, OUTPUT_FILE, complete_file, require_folder
from pipeline.commands.options import Finite, budget_option, cpu_option, verbose_option, wait_option
from pipeline.commands.profile_options import profile_option
from pipeline.commands.workshop import open_workshop

if TYPE_CHECKING:
    from pipeline.learn.on_profile import Target
    from pipeline.learn.samples import Sample
    from pipeline.learn.trial import Outcome
    from pipeline.stages.build.workshop import Workshop


@click.command(
    "learn",
    epilog="\b\nExamples:\n"
    "  pipeline learn --profile server --pid 1234 --keep server.json --dry-run\n"
    "  pipeline learn --profile server --stats server.json --budget 20m\n"
    "  pipeline learn --profile server --stats server.json --write\n\n"
    "\b\nWhat it looks at, and what it proposes:\n"
    "docs/tuning.md#learning-from-production.",
)
@profile_option
@click.option(
    "--pid",
    "pids",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="PID",
    help="A running process with HAKMEM_STATS_SOCKET. May be given several times.",
)
@click.option(
    "--stats",
    "files",
    type=EXISTING_FILE,
    multiple=True,
    metavar="FILE",
    shell_complete=complete_file,
    help="Answers of hak_stats_json, oldest first. May be given several times.",
)
@click.option("--samples", type=click.IntRange(min=2), default=10, show_default=True,
              metavar="N", help="How often each PID is asked.")  # fmt: skip
@click.option("--every", type=Finite(min=0.1), default=6.0, show_default=True,
              metavar="SECONDS", help="Time between two samples.")  # fmt: skip
@click.option("--keep", type=OUTPUT_FILE, metavar="FILE", callback=require_folder,
              help="Keep the samples of --pid there, for --stats.")  # fmt: skip
@budget_option("10m", "About how long the judge's runs take in all.")
@click.option("--dry-run", is_flag=True, help="Show the proposals; build, judge and write nothing.")
@click.option("--write", is_flag=True, help="Write what pays; without it a diff is printed.")
@cpu_option
@wait_option
@verbose_option
def learn_command(
    profile: str,
    pids: tuple[int, ...],
    files: tuple[Path, ...],
    samples: int,
    every: float,
    keep: Path | None,
    budget_s: float,
    dry_run: bool,
    write: bool,
    cpu: str | None,
    wait: bool,
    verbose: bool,
) -> None:
    """Propose a geometry by the statistics of production.

    Options are proposed, too, and each proposal is judged. Each proposal says its reason in
    figures. Its library runs against today's on the verify workloads of the profile, by the judge's
    rules; what pays is put together and judged again by fresh runs. Only what passes that is
    written, and only with `--write`, to layouts/NAME/geometry-CPU.toml (with `--cpu any` to
    geometry.toml, for all processors). The library itself learns nothing: `pipeline build` makes a
    new one, and its gate judges that as any other.
    """
    from pipeline.core.console import open_console
    from pipeline.core.paths import Tree
    from pipeline.learn.figures import smooth
    from pipeline.learn.on_profile import judge, target
    from pipeline.learn.rules import proposals
    from pipeline.learn.show import not_proposed, proposal, summary
    from pipeline.profile.load import load_profile
    from pipeline.stages.build.workshop import Options

    _check(pids, files, keep, dry_run, write)
    tree, console, options = Tree.here(), open_console(verbose), Options(cpu=cpu)
    loaded = load_profile(tree, profile)
    if pids:
        console.say(f"asking {_named(pids)} {samples} times, for {(samples - 1) * every:.0f} s")
    figures = smooth(_samples(pids, files, samples, every, keep))
    place = target(tree, profile, options.processor)
    found = proposals(figures, place.base)
    for line in (*summary(figures), *map(proposal, found)):
        console.say(line)
    for line in not_proposed(figures, place.base):
        console.notice(line)
    if figures.at_rest:
        console.notice(
            "no run of pages was taken or given back between the samples: perhaps nobody asked the "
            "process anything, and these figures are of its rest alone. Sample it while it works"
        )
    if not found:
        console.say("result: these figures suggest no change")
    elif not dry_run:
        with open_workshop(tree, loaded, options, console, wait=wait) as shop:
            outcome = judge(shop, place.base, found, budget_s)
            _conclude(shop, outcome, place, write)


def _named(pids: tuple[int, ...]) -> str:
    return f"process{'es' if len(pids) > 1 else ''} {', '.join(map(str, pids))}"


def _check(
    pids: tuple[int, ...], files: tuple[Path, ...], keep: Path | None, dry_run: bool, write: bool
) -> None:
    """Refuse what does not go together."""
    if bool(pids) == bool(files):
        raise click.UsageError("give either --pid PID or --stats FILE, once or several times")
    if keep is not None and not pids:
        raise click.UsageError("--keep goes with --pid: files are kept already")
    if dry_run and write:
        raise click.UsageError("--write goes without --dry-run: only what was judged is written")


def _samples(
    pids: tuple[int, ...], files: tuple[Path, ...], count: int, every: float, keep: Path | None
) -> list[Sample]:
    import json

    from pipeline.core.files import replace_text
    from pipeline.learn.samples import Sample, read_samples, watch

    if files:
        return read_samples(files)
    from operate.processes import Process
    from operate.statistics import look

    told = list(watch(pids, count, every, lambda pid: look(Process(pid))))
    if keep is not None:
        replace_text(keep, "".join(json.dumps(one) + "\n" for one in told))
    return [Sample.model_validate(one) for one in told]


def _conclude(shop: Workshop, outcome: Outcome, place: Target, write: bool) -> None:
    """Say what the judge found; write the file, or show what would change in it."""
    from pipeline.geometry.write import write_toml
    from pipeline.learn.show import difference, verdicts

    for line in verdicts(outcome):
        shop.console.say(line)
    if outcome.geometry is None:
        shop.console.say(f"result: nothing pays; {place.path} stays as it is")
        return
    geometry = outcome.geometry.for_processor(place.processor)
    if write:
        write_toml(geometry, place.common, place.path)
        shop.console.say(f"written: {place.path}; `{shop.command}` reads it")
        return
    click.echo("\n".join(difference(place.path, geometry, place.common)))
    shop.console.say("result: this pays; the same command with --write writes it")
