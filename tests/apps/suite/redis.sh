# redis-server on a unix socket: redis-benchmark, then a dataset of every type that is changed,
# expired, scripted, saved by a forked child and loaded again. Compared is the digest of all keys.
source "$APPS/lib.sh"

start() {
    serve redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' --dir "$PWD" \
        --enable-debug-command yes --io-threads 2 --lazyfree-lazy-user-del yes
    await redis-cli -s redis.sock ping
}

ask() { redis-cli -s redis.sock "$@"; }

saved() { ask info persistence | grep -q rdb_bgsave_in_progress:0; }

run() {
    start
    redis-benchmark -s "$PWD/redis.sock" -q -n 30000 -c 20 -P 4 -d 200 -r 20000 \
        -t set,get,incr,lpush,rpop,sadd,hset,spop,zadd,mset >benchmark.txt
    grep -c 'requests per second' <(tr '\r' '\n' <benchmark.txt | grep -v 'rps=')
    ask flushall
    /usr/bin/python3 "$APPS/redis_load.py" | ask --pipe | tail -1
    ask eval "$(cat "$APPS/redis_work.lua")" 0
    ask dbsize && ask debug digest
    ask config set activedefrag no >/dev/null
    ask save && ask debug reload && ask debug digest
    ask bgsave >/dev/null && await saved
    ask unlink big:0 big:1 big:2 && ask debug digest
    ask shutdown nosave && wait
}

"$@"
