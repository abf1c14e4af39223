"""Writes a history for git fast-import: two branches, many files, growing and changing text."""

import random
import sys

COMMITS, FILES, BRANCH_AT = 1500, 400, 900


def main() -> None:
    rng = random.Random(5)
    files = {f"d{i % 20}/f{i}": [f"line {k} of {i}" for k in range(30)] for i in range(FILES)}
    for number in range(COMMITS):
        side = number >= BRANCH_AT and number % 10 == 0
        commit("side" if side else "main", number, change(rng, files, number, side))


def change(rng, files, number, side):
    """Return the files that a commit changes; side branches touch files of their own."""
    if side:
        return {f"side/s{number % 7}": [f"side {number} {k}" for k in range(number % 50)]}
    if number == 0:
        return files
    changed = {}
    for name in rng.sample(sorted(files), 8):
        lines = files[name]
        lines[rng.randrange(len(lines))] = f"line {number} of {name}"
        lines.insert(rng.randrange(len(lines)), f"new in {number}: {rng.random():.12f}")
        changed[name] = lines
    return changed


def commit(branch, number, changed):
    out = sys.stdout
    who = f"Writer {number % 9} <w{number % 9}@example.org> {1000000000 + number * 3600} +0000"
    out.write(f"commit refs/heads/{branch}\ncommitter {who}\n")
    data(f"Change number {number}\n")
    if branch == "side" and number == BRANCH_AT:
        out.write("from refs/heads/main\n")
    for name, lines in sorted(changed.items()):
        out.write(f"M 100644 inline {name}\n")
        data("\n".join(lines) + "\n")
    out.write("\n")


def data(text):
    sys.stdout.write(f"data {len(text.encode())}\n{text}")


main()
