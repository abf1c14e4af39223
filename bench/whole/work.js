// Objects, maps, buffers and JSON in node, in its main thread.
"use strict";
let x = 1;
const draw = (n) => (x = (x * 48271) % 2147483647) % n;
const kept = new Map();
let sum = 0;
for (let i = 0; i < 30000; i++) {
  const buffer = i % 3 ? Buffer.alloc(draw(4000), i & 255) : Buffer.from("é".repeat(draw(900)));
  kept.set(draw(500), buffer);
  kept.delete(draw(500));
  sum += buffer.length;
}
const tree = Object.fromEntries(Array.from({ length: 20000 }, (_, i) =>
  [`k${i}`, { i, text: "t".repeat(i % 80), list: [i, i + 1] }]));
let text = JSON.stringify(tree);
for (let i = 0; i < 4; i++) text = JSON.stringify(JSON.parse(text));
const words = text.split('"').filter((word) => word.startsWith("k")).map((word) => word + draw(9));
console.log(sum, text.length, words.sort().length);
