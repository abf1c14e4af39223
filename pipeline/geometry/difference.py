"""What a geometry has otherwise than the default, as rows for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.geometry.model import Difference, Geometry, SizeClass

_FIELDS = ("pages", "depth")
# So many sizes are named; more are counted.
_NAMED = 12


def differences(geometry: Geometry, default: Geometry) -> tuple[Difference, ...]:
    """Return a row for each constant and setting, for the table, for each class with words.

    Classes that have no words of their own share those of the table.
    """
    return (
        *_constants(geometry, default),
        *_settings(geometry, default),
        *_classes(geometry, default),
    )


def changed_fields(before: SizeClass, after: SizeClass) -> list[tuple[str, str, str]]:
    """Return (field, old value, new value) for each value in which two classes differ."""
    pairs = [(name, str(getattr(before, name)), str(getattr(after, name))) for name in _FIELDS]
    return [(name, old, new) for name, old, new in pairs if old != new]


def _constants(geometry: Geometry, default: Geometry) -> Iterator[Difference]:
    for one in geometry.constants:
        standard = default.value(one.name)
        if one.value != standard:
            yield Difference(
                what=one.name,
                before=str(standard),
                after=str(one.value),
                why=one.why,
                worth=one.worth,
            )


def _settings(geometry: Geometry, default: Geometry) -> Iterator[Difference]:
    for one in geometry.code:
        before = default.setting(one.name).value
        if one.value != before:
            yield Difference(
                what=one.name, before=before, after=one.value, why=one.why, worth=one.worth
            )


def _classes(geometry: Geometry, default: Geometry) -> Iterator[Difference]:
    before = {one.size: one for one in default.classes}
    after = {one.size: one for one in geometry.classes}
    new = [size for size in after if size not in before]
    gone = [size for size in before if size not in after]
    changed = [s for s in after if s in before and after[s].values != before[s].values]
    told = [size for size in (*new, *changed) if after[size].why]
    others = [_sizes("new", new), _sizes("gone", gone), _sizes("changed", changed)]
    if set((*new, *gone, *changed)) - set(told):
        yield Difference(
            what="size classes",
            before=str(len(before)),
            after=f"{len(after)}: {'; '.join(text for text in others if text)}",
            why=geometry.classes_why,
            worth=geometry.classes_worth,
        )
    for size in sorted(told):
        one = after[size]
        yield _class(one, before.get(size), one.worth or geometry.classes_worth)


def _class(one: SizeClass, before: SizeClass | None, worth: str) -> Difference:
    if before is None:
        old, new = "", f"pages {one.pages}, depth {one.depth}"
    else:
        fields = changed_fields(before, one)
        old = ", ".join(f"{name} {value}" for name, value, _ in fields)
        new = ", ".join(f"{name} {value}" for name, _, value in fields)
    return Difference(what=f"class {one.size}", before=old, after=new, why=one.why, worth=worth)


def _sizes(word: str, sizes: Sequence[int]) -> str:
    if not sizes:
        return ""
    if len(sizes) > _NAMED:
        return f"{len(sizes)} classes {word}"
    return f"{'class' if len(sizes) == 1 else 'classes'} {', '.join(map(str, sizes))} {word}"
