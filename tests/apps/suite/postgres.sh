# PostgreSQL on a unix socket, as a user without rights: initdb, pgbench with several clients and
# parallel queries, sorts, hash joins, a crash and its recovery. Compared are results of queries.
source "$APPS/lib.sh"

# Newest of what is installed; Debian keeps the server's programs out of PATH.
find_programs() {
    local folders=(/usr/lib/postgresql/*/bin)
    PATH=${folders[-1]}:$PATH
}

as_user() { "${unprivileged[@]}" "$@"; }

start() {
    serve "${unprivileged[@]}" postgres -D "$PWD/data" -k "$PWD" -c listen_addresses= -c fsync=off \
        -c autovacuum_naptime=1 -c max_parallel_workers_per_gather=2 -c min_parallel_table_scan_size=0
    await as_user pg_isready -q -h "$PWD"
}

ask() { as_user psql -h "$PWD" -U owner -X -q -A -t postgres "$@"; }

run() {
    find_programs
    mkdir data && chmod 777 . && { [ "$(id -u)" != 0 ] || chown nobody:nogroup data; }
    as_user initdb -D "$PWD/data" -U owner --no-sync --no-locale -E UTF8 >initdb.txt
    start
    as_user pgbench -h "$PWD" -U owner -q -i -s 3 postgres 2>init.txt
    as_user pgbench -h "$PWD" -U owner -n -c 6 -j 2 -t 500 postgres >load.txt 2>&1
    as_user pgbench -h "$PWD" -U owner -n -S -M prepared -c 6 -j 2 -t 3000 postgres >>load.txt 2>&1
    grep -E 'processed|failed' load.txt
    ask -c 'select count(*), sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts'
    ask -f "$APPS/work.pg.sql"
    pkill -KILL -P "$(head -1 data/postmaster.pid)" -f checkpointer
    await ask -c 'select 1'
    ask -c 'select count(*) from pgbench_history'
    kill -INT "$(head -1 data/postmaster.pid)" && wait
}

"$@"
