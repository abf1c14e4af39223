"""The command bench/result: measures a table of docs/results again, and puts it into its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from bench.harness import saved
from bench.harness.allocators import REPOSITORY
from bench.harness.arguments import INTERRUPTED
from bench.harness.circumstances import describe_machine, today
from bench.harness.runner import RunFailed
from bench.harness.tables import builds, page, recipe, standing
from bench.harness.tables.measure import Failed, measure
from pipeline.core import interrupts
from pipeline.core.errors import PipelineError
from pipeline.core.files import replace_text
from pipeline.release.commit import commit_of

EXAMPLES = """\b
Examples:
  bench/result --list
  bench/result options
  bench/result builds --from dist/mixed/current/report.json
  bench/result --pages

Exit codes: 0 done, 1 a program failed, 2 wrong use, 4 something is not built or installed,
14 what --from names is no report, 130 interrupted; of `builds` also those of a build that failed.
After all but 0 every file is as it was."""


@click.command(context_settings={"max_content_width": 100}, epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--list", "only_list", is_flag=True, help="List the tables, run nothing.")
@click.option("--pages", is_flag=True, help="Make all tables of the pages from their files again.")
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, path_type=Path),
    help="Build nothing: take the figures of this report.json. For `builds` alone.",
)
def main(*, name: str | None, only_list: bool, pages: bool, source: Path | None) -> None:
    """Measure the table NAME on this machine, by bench/results/NAME.toml.

    Keep all samples in docs/results/data/NAME-PROCESSOR.json, and make the tables of its page anew.
    The table `builds` builds the profile mixed, and takes its figures from the report.
    """
    if bool(name) + only_list + pages != 1:
        raise click.UsageError("one of NAME, --list and --pages is needed")
    try:
        if source is not None and (name is None or recipe.load(name).report is None):
            raise click.UsageError("--from is for a table of builds: bench/result builds")
        chosen = [recipe.load(one) for one in ([name] if name else recipe.names())]
        if only_list:
            _list(chosen)
        else:
            _make(chosen, is_measured=name is not None, source=source)
        if pages:
            _put(standing.PAGE, standing.update())
    except (RunFailed, PipelineError) as error:
        _end(error)
    except Failed as error:
        raise SystemExit(error.code) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _list(recipes: Sequence[recipe.Recipe]) -> None:
    width = max(len(one.name) for one in recipes)
    for one in recipes:
        click.echo(f"{one.name:{width}}  {one.title} (docs/results/{one.page})")


def _make(recipes: Sequence[recipe.Recipe], is_measured: bool, source: Path | None) -> None:
    for one in recipes:
        page.update(one)  # a page without marks is refused before anything is done
    for one in recipes:
        if is_measured:
            _tell(_take(one, source) if one.report else _measure(one), one)
        _put(one.page, page.update(one))


def _tell(kept: page.Saved, of: recipe.Recipe) -> None:
    click.echo(f"saved {kept.path}; its table is in docs/results/{of.page}")
    if kept.replaced:
        click.echo(
            f"it is {kept.made}, and replaces what was there {kept.replaced}: "
            f"`git checkout {kept.path}` and `bench/result --pages` take that back"
        )


def _put(name: str, text: str) -> None:
    """Write a page and say so, unless it stands there already."""
    place = saved.RESULTS / name
    if place.read_text(encoding="utf-8") != text:
        replace_text(place, text)
        click.echo(f"made anew: {place}")


def _take(wanted: recipe.Recipe, source: Path | None) -> page.Saved:
    return page.save_build(wanted, builds.figures_of(wanted, source))


def _measure(wanted: recipe.Recipe) -> page.Saved:
    environment, (_, kind) = {**describe_machine(), **_commit()}, today()
    page.check_place(page.place_of(wanted, kind), environment)
    samples = measure(wanted, lambda text: click.echo(text, err=True))
    return page.save(wanted, samples, environment, kind)


def _commit() -> dict[str, object]:
    found = commit_of(REPOSITORY)
    if found is None:
        return {}
    changed = any(path.endswith((".c", ".h", ".def")) for path in found["changed"])
    return {"commit": found["commit"][:8] + (" with changes" if changed else "")}


def _end(error: RunFailed | PipelineError) -> NoReturn:
    said = filter(None, (f"Error: {error}", getattr(error, "hint", "")))
    click.echo("\n".join(said), err=True)
    raise SystemExit(int(getattr(error, "exit_code", 1)))


if __name__ == "__main__":
    interrupts.install()
    main(prog_name="bench/result")
