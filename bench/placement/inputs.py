"""Writes small inputs for bench/places into build/places, then runs the rest of its command line.

    python3 bench/placement/inputs.py bench/places --train 'lua5.4 build/places/1.lua' ...

Each kind has two: number 1 teaches, number 2 is simulated. The bytes are the same each time. Each
program needs some MiB, so that it misses, and few accesses, for a simulation costs 0.5 us each.
"""

import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "build" / "places"

DRAWN = {
    "lua": """\
local x = SEED
local function draw(below) x = x * 48271 % 2147483647 return x % below end
local function tree(depth)
  if depth == 0 then return {draw(9)} end
  return {left = tree(depth - 1), right = tree(depth - 1), name = "n" .. draw(500)}
end
local function sum(t) return t[1] or sum(t.left) + sum(t.right) end
local kept, count, total = {}, {}, 0
for i = 1, 10 do kept[i % 6] = tree(10) end
for i = 1, 20000 do
  local word = "w" .. draw(15000)
  count[word] = (count[word] or 0) + 1
end
for i = 0, 5 do total = total + sum(kept[i]) end
print(total, count.w5)
""",
    "pl": """\
my $x = SEED;
sub drawn { $x = $x * 48271 % 2147483647; return $x % $_[0] }
my (%by, @kept);
for my $i (1 .. 12000) {
  push @{ $by{ 'w' . drawn(4000) } }, { key => $i, name => 'n' . drawn(500) };
  $kept[drawn(3000)] = 'x' x drawn(90);
}
my $sum = 0;
for my $word (sort keys %by) { $sum += $_->{key} for @{ $by{$word} } }
print "$sum\\n";
""",
    "py": """\
x = SEED
def draw(below):
    global x
    x = x * 48271 % 2147483647
    return x % below
class Record:
    def __init__(self, key):
        self.key, self.name, self.parts = key, f"n{draw(500)}", [draw(99) for _ in range(3)]
by, kept = {}, [None] * 3000
for i in range(9000):
    by.setdefault(f"w{draw(4000)}", []).append(Record(i))
    kept[draw(3000)] = "x" * draw(90)
print(sum(record.key for word in sorted(by) for record in by[word]))
""",
    "sql": """\
create table t(a, b, c);
with recursive n(i, x) as (select 1, SEED union all
  select i + 1, x * 48271 % 2147483647 from n where i < 20000)
insert into t select i, 'row ' || x % 9973, x from n;
create index u on t(b);
select count(*), sum(c) from t where b in (select b from t group by b having count(*) > 3);
delete from t where a % 3 = 0;
select b, max(c) from t group by b order by 2 limit 3;
""",
}
"""By ending: a program that draws by itself, from SEED on."""


def clauses(number: int) -> str:
    """Return a problem for z3: sums of integers, and clauses over them."""
    x = number * 7919

    def draw(below: int) -> int:
        nonlocal x
        x = x * 48271 % 2147483647
        return x % below

    lines = [f"(declare-const v{k} Int)(assert (<= 0 v{k} 60))" for k in range(60)]
    for _ in range(90):
        one, two, three = (f"v{draw(60)}" for _ in range(3))
        left = f"(<= (+ {one} (* {draw(5) + 1} {two})) {draw(90) + 40})"
        lines.append(f"(assert (or {left} (> {three} {draw(60)}) (= {one} {three})))")
    return "\n".join([*lines, "(check-sat)", ""])


def write() -> None:
    """Write all inputs."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for number in (1, 2):
        for ending, text in DRAWN.items():
            place = FOLDER / f"{number}.{ending}"
            place.write_text(text.replace("SEED", str(number * 7919)), encoding="utf-8")
        (FOLDER / f"{number}.smt2").write_text(clauses(number), encoding="utf-8")


if __name__ == "__main__":
    write()
    if sys.argv[1:]:
        os.execvp(sys.argv[1], sys.argv[1:])
