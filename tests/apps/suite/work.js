// Objects, buffers, workers, thread-pool work and streams under garbage collection. Prints sums.
"use strict";
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const { promisify } = require("util");
const crypto = require("crypto");
const zlib = require("zlib");
const fs = require("fs/promises");

function churn(seed) {
  let x = seed + 1;
  const draw = (n) => (x = (x * 16807) % 2147483647) % n;
  const kept = new Map();
  let sum = 0;
  for (let i = 0; i < 60000; i++) {
    const buffer = i % 3 ? Buffer.alloc(draw(4000), i & 255) : Buffer.from("é".repeat(draw(900)));
    kept.set(draw(500), buffer);
    kept.delete(draw(500));
    sum += buffer.length;
  }
  for (const buffer of kept.values()) sum += buffer.reduce((a, b) => a + b, 0);
  return sum;
}

async function pool() {
  const deflate = promisify(zlib.deflate), inflate = promisify(zlib.inflate);
  const scrypt = promisify(crypto.scrypt);
  const zipped = await Promise.all(
    Array.from({ length: 60 }, (_, i) => deflate(Buffer.alloc(100000 + i * 1000, `${i}`))));
  const plain = await Promise.all(zipped.map((z) => inflate(z)));
  const keys = await Promise.all(Array.from({ length: 8 }, (_, i) => scrypt(`p${i}`, "salt", 64, { N: 1024 })));
  console.log("pool", plain.reduce((a, b) => a + b.length, 0), crypto.createHash("sha256")
    .update(Buffer.concat(keys)).digest("hex"));
}

async function files() {
  const folder = await fs.mkdtemp(`${process.env.TMPDIR}/n`);
  await Promise.all(Array.from({ length: 200 }, (_, i) => fs.writeFile(`${folder}/${i}`, "z".repeat(i * 300))));
  const read = await Promise.all(Array.from({ length: 200 }, (_, i) => fs.readFile(`${folder}/${i}`)));
  console.log("files", read.reduce((a, b) => a + b.length, 0));
}

async function workers() {
  const shared = new SharedArrayBuffer(4);
  const run = (seed) => new Promise((done, failed) => {
    const worker = new Worker(__filename, { workerData: { seed, shared }, resourceLimits: { maxOldGenerationSizeMb: 128 } });
    worker.on("message", (sum) => worker.terminate().then(() => done(sum)));
    worker.on("error", failed);
  });
  let sum = 0;
  for (let round = 0; round < 4; round++) {
    for (const part of await Promise.all([0, 1, 2, 3].map((n) => run(round * 4 + n)))) sum += part;
  }
  console.log("workers", sum, new Int32Array(shared)[0]);
}

async function main() {
  console.log("main", churn(99));
  const tree = Object.fromEntries(Array.from({ length: 30000 }, (_, i) => [`k${i}`, { i, text: "t".repeat(i % 80), list: [i, i + 1] }]));
  let text = JSON.stringify(tree);
  for (let i = 0; i < 5; i++) text = JSON.stringify(JSON.parse(text));
  console.log("json", text.length);
  await pool();
  await files();
  await workers();
}

if (isMainThread) {
  main();
} else {
  Atomics.add(new Int32Array(workerData.shared), 0, 1);
  parentPort.postMessage(churn(workerData.seed));
}
