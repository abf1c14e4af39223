"""The command bench/result: measures a table of docs/results again, and puts it into its page."""

from __future__ import annotations

from typing import NoReturn

import click

from bench.harness import saved
from bench.harness.allocators import REPOSITORY
from bench.harness.arguments import INTERRUPTED
from bench.harness.circumstances import describe_machine, today
from bench.harness.runner import RunFailed
from bench.harness.tables import page, recipe
from bench.harness.tables.measure import Failed, measure
from pipeline.core import interrupts
from pipeline.core.errors import PipelineError
from pipeline.core.files import replace_text
from pipeline.release.commit import commit_of

EXAMPLES = """\b
Examples:
  bench/result --list
  bench/result options
  bench/result --pages

Exit codes: 0 done, 1 a program failed, 2 wrong use, 4 something is not built or installed,
130 interrupted. After all but 0 every file is as it was."""


@click.command(context_settings={"max_content_width": 100}, epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--list", "only_list", is_flag=True, help="List the tables, run nothing.")
@click.option("--pages", is_flag=True, help="Make all tables of the pages from their files again.")
def main(*, name: str | None, only_list: bool, pages: bool) -> None:
    """Measure the table NAME on this machine, by bench/results/NAME.toml.

    Keep all samples in docs/results/data/NAME-PROCESSOR.json, and make the tables of its page anew.
    """
    if bool(name) + only_list + pages != 1:
        raise click.UsageError("one of NAME, --list and --pages is needed")
    try:
        if only_list:
            for one in map(recipe.load, recipe.names()):
                click.echo(f"{one.name:12} {one.title} (docs/results/{one.page})")
            return
        if name:
            _measure(recipe.load(name))
        for one in map(recipe.load, [name] if name else recipe.names()):
            replace_text(saved.RESULTS / one.page, page.update(one))
    except (RunFailed, PipelineError) as error:
        _end(error)
    except Failed as error:
        raise SystemExit(error.code) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _measure(wanted: recipe.Recipe) -> None:
    environment, (_, kind) = {**describe_machine(), **_commit()}, today()
    page.check_place(page.DATA / f"{wanted.name}-{kind}.json", environment)
    page.update(wanted)  # a page without marks is refused at once
    samples = measure(wanted, lambda text: click.echo(text, err=True))
    place = page.save(wanted, samples, environment, kind)
    click.echo(f"saved {place}; its table is in docs/results/{wanted.page}")


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
