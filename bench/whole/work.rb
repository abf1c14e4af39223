# Hashes, strings, symbols, regular expressions and blocks in ruby.
Point = Struct.new(:x, :y, :name)
x = 1
draw = ->(below) { (x = x * 48271 % 2147483647) % below }
words = Array.new(60_000) { "word#{draw.(9000)}" }
count = Hash.new(0)
words.each { |word| count[word] += 1 }
text = words.join(" ")
marked = text.gsub(/(\d)(\d+)/) { "<#{$2}#{$1}>" }
points = Array.new(120_000) { |i| Point.new(draw.(1000), draw.(1000), "p#{i % 977}") }
groups = points.group_by(&:name).transform_values { |list| list.map { |p| [p.x * p.y, p.name + "!"] }.sort }
tree = ->(depth) { depth.zero? ? [draw.(9)] : { l: tree.(depth - 1), r: tree.(depth - 1), t: "t" * depth } }
trees = Array.new(6) { tree.(12) }
puts count.size, marked.size, groups.sum { |_, list| list.size }, trees.size
