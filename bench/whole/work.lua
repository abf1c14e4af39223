-- Tables, strings and closures in lua: trees that are built and dropped, words that are counted.
local x = 1
local function draw(below) x = x * 48271 % 2147483647 return x % below end
local function tree(depth)
  if depth == 0 then return {draw(9)} end
  return {left = tree(depth - 1), right = tree(depth - 1), name = "n" .. draw(500)}
end
local function sum(t) return t[1] or sum(t.left) + sum(t.right) end
local kept, total = {}, 0
for i = 1, 40 do
  kept[i % 8] = tree(11)
  total = total + sum(kept[i % 8])
end
local count, parts = {}, {}
for i = 1, 200000 do
  local word = "w" .. draw(30000)
  count[word] = (count[word] or 0) + 1
  parts[#parts + 1] = word
end
local text = table.concat(parts, " ")
local found = 0
for word in text:gmatch("w%d+5 ") do found = found + #word end
print(total, found, #text)
