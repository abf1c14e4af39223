# node: buffers, workers with shared memory, streams, zlib and crypto on the thread pool, JSON.
source "$APPS/lib.sh"

run() { node "$APPS/work.js"; }

"$@"
