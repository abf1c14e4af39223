-- Tables, strings and calls within the server's interpreter, which allocates by itself.
local sum = 0
for i = 1, 20000 do
  local t = {}
  for k = 1, i % 20 do t[k] = string.rep('x', k) .. i end
  sum = sum + #table.concat(t, ',')
  if i % 100 == 0 then redis.call('SET', 'lua:' .. i, cjson.encode(t)) end
end
return sum
