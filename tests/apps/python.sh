# Objects, json, threads, processes, regular expressions, big numbers, compression, sqlite.
# shellcheck source=need.sh
source "$(dirname "$0")/need.sh"
set -euo pipefail
need python3

cat >work.py <<'PYTHON'
import collections, concurrent.futures, gc, hashlib, json, multiprocessing, random, re
import sqlite3, subprocess, sys, threading, zlib

def digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]

def churn(seed):
    rng = random.Random(seed)
    table = {}
    for i in range(30000):
        table[rng.randrange(3000)] = [rng.random()] * rng.randrange(1, 40)
        if i % 3 == 0:
            table.pop(rng.randrange(3000), None)
    return digest(sorted(table.items()))

def main():
    tree = {str(i): {"list": list(range(i % 50)), "text": "ä" * (i % 90)} for i in range(4000)}
    print(digest(json.loads(json.dumps(tree)) == tree), len(json.dumps(tree, indent=2)))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(list(pool.map(churn, range(8))))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(churn, range(4)))
    out = subprocess.run([sys.executable, "-c", "print(sum(range(10**5)))"], capture_output=True)
    print(out.stdout, out.returncode)
    words = re.findall(r"\b\w*7\w*\b", " ".join(str(i) for i in range(60000)))
    print(len(words), collections.Counter(w[0] for w in words).most_common(3))
    print(digest(hex(3**20000)), len(zlib.compress(bytes(range(256)) * 20000)))
    base = sqlite3.connect(":memory:")
    base.execute("create table t (a integer, b text)")
    base.executemany("insert into t values (?, ?)", ((i, "x" * (i % 100)) for i in range(20000)))
    base.execute("create index i on t (b)")
    print(base.execute("select count(*), sum(a), max(length(b)) from t where b > 'xxx'").fetchall())
    threads = [threading.Thread(target=churn, args=(i,)) for i in range(20)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(gc.collect() >= 0)

main()
PYTHON
python3 work.py
