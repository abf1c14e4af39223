# The sqlite3 shell: inserts, indexes, joins, a recursive query, vacuum.
# shellcheck source=need.sh
source "$(dirname "$0")/need.sh"
set -euo pipefail
need sqlite3

sqlite3 base.db <<'SQL'
pragma journal_mode = wal;
create table item (id integer primary key, name text, size integer);
with recursive n (i) as (select 1 union all select i + 1 from n where i < 60000)
insert into item select i, 'name' || (i * 7919 % 60000), i * 31 % 1000 from n;
create index by_name on item (name);
create index by_size on item (size, name);
select count(*), sum(size), min(name), max(name) from item;
select a.size, count(*) from item a join item b on a.name = b.name and b.size > 990
 group by a.size order by 2 desc, 1 limit 8;
delete from item where id % 3 = 0;
vacuum;
select count(*), group_concat(name) from (select name from item order by size, name limit 20);
pragma integrity_check;
SQL
