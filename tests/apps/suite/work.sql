create table item (id integer primary key, name text, size integer, data blob);
begin;
with recursive n (i) as (select 1 union all select i + 1 from n where i < 60000)
insert into item select i, 'name' || (i * 7919 % 60000), i * 31 % 1000, zeroblob(i % 300) from n;
commit;
create index by_name on item (name);
create index by_size on item (size, name);
select count(*), sum(size), min(name), max(name), sum(length(data)) from item;
select a.size, count(*) from item a join item b on a.name = b.name and b.size > 900
 group by a.size order by 2 desc, 1 limit 8;
select size, id, sum(id) over (partition by size order by id rows 5 preceding) s
 from item where size < 4 order by s desc, id limit 8;
select sum(json_array_length(doc)) from
 (select json_group_array(json_object('id', id, 'name', name)) doc from item group by size);
select length(group_concat(name, char(10))) from item group by size % 3 order by 1;
create virtual table words using fts5 (body);
insert into words select group_concat(name, ' ') from item group by size;
select count(*) from words where words match 'name7 OR name77 OR name77*';
select hex(data) from item where id in (select max(id) from item where length(data) = 11);
delete from item where id % 3 = 0;
update item set name = name || 'x', data = zeroblob(id % 7) where id % 5 = 0;
select count(*), total(length(name)) from item;
drop table words;
