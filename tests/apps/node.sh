# node: objects, buffers, workers, garbage collection under load.
# shellcheck source=need.sh
source "$(dirname "$0")/need.sh"
set -euo pipefail
need node

node -e '
const { Worker, isMainThread } = require("worker_threads");
const crypto = require("crypto");
let m = new Map();
for (let i = 0; i < 300000; i++) { m.set((i * 7919) % 50000, "v".repeat(i % 40)); }
console.log(m.size, [...m.values()].reduce((a, v) => a + v.length, 0));
let hash = crypto.createHash("sha256");
for (let i = 1; i < 400; i++) hash.update(Buffer.alloc(i * 997, i & 255));
console.log(hash.digest("hex"));
console.log(JSON.stringify(JSON.parse(JSON.stringify([...m].slice(0, 2000)))).length);
const source = "let s=0;for(let i=0;i<3e4;i++)s+=Buffer.from(\"x\".repeat(i%500)).length;" +
    "require(\"worker_threads\").parentPort.postMessage(s)";
let left = 4;
for (let i = 0; i < 4; i++) {
    new Worker(source, { eval: true }).on("message", s => { if (--left === 0) console.log(s); });
}'
