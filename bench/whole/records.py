"""Records as JSON: written, read again, grouped, and put into a table of sqlite."""

import json
import sqlite3
import sys

COUNT = 40_000


def records() -> list[dict[str, object]]:
    return [
        {
            "id": i,
            "name": f"name {i * 7919 % COUNT}",
            "tags": [f"t{i % k}" for k in range(2, 7)],
            "place": {"x": i * 0.5, "y": -i, "text": "é" * (i % 30)},
        }
        for i in range(COUNT)
    ]


def by_json() -> None:
    text = json.dumps(records(), indent=1)
    for _ in range(3):
        read = json.loads(text)
        groups: dict[str, list[object]] = {}
        for record in read:
            groups.setdefault(record["tags"][3], []).append(record["place"])
        text = json.dumps(read)
    print(len(text), len(groups))


def by_sqlite() -> None:
    base = sqlite3.connect(":memory:")
    base.execute("create table record (id integer primary key, name text, doc text)")
    rows = ((r["id"], r["name"], json.dumps(r["place"])) for r in records())
    base.executemany("insert into record values (?, ?, ?)", rows)
    base.execute("create index by_name on record (name, id)")
    found = base.execute("select name, count(*), max(doc) from record group by name").fetchall()
    pairs = base.execute(
        "select a.id, b.doc from record a join record b on b.id = a.id * 7 % 40000"
    )
    print(len(found), sum(len(doc) for _, doc in pairs))


{"json": by_json, "sqlite": by_sqlite}[sys.argv[1]]()
