# The sqlite3 shell: a database of some 100 MB of work, in memory and on disk, with indexes, joins,
# full-text search, window functions, json, vacuum; compared are results and the whole dump.
source "$APPS/lib.sh"

run() {
    sqlite3 :memory: <"$APPS/work.sql"
    sqlite3 base.db <"$APPS/work.sql" | sha256sum
    sqlite3 base.db .dump | sha256sum
    sqlite3 base.db 'pragma integrity_check; vacuum; select count(*) from item;'
}

"$@"
