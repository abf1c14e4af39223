set work_mem = '16MB';
create table t as select i, md5(i::text) as m, i * 31 % 997 as k, repeat('x', i % 200) as r
  from generate_series(1, 200000) i;
analyze t;
select count(*), max(c) from (select count(*) c from t a join t b using (k) where a.i < 3000 group by a.m) s;
select md5(string_agg(m, ',' order by m desc)) from t where i % 3 = 0;
select k, count(distinct m), sum(length(r)) from t group by k order by 3 desc, 1 limit 5;
select sum(length(j::text)) from (select jsonb_agg(to_jsonb(t)) j from t group by k % 100) s;
create index on t (m); create index on t using gin (to_tsvector('simple', m || ' ' || r));
select count(*) from t where m like 'ab%';
do $$ declare s bigint := 0; a text[]; begin
  for i in 1..3000 loop a := string_to_array(repeat('ab,', i % 200), ','); s := s + array_length(a, 1);
    begin perform 1 / (i % 7); exception when division_by_zero then s := s + 1; end; end loop;
  raise notice 'sum %', s; end $$;
update t set r = r || m where i % 2 = 0;
delete from t where i % 5 = 0;
vacuum full t;
select count(*), sum(length(r)), md5(min(m) || max(m)) from t;
