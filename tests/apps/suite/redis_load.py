"""Writes commands for redis-cli --pipe: strings, lists, hashes, sets, sorted sets, streams."""

import random
import sys


def main():
    rng = random.Random(3)
    for i in range(30000):
        key = rng.randrange(3000)
        send("SET", f"s:{key}", "v" * rng.randrange(1, 1500))
        send("APPEND", f"s:{rng.randrange(3000)}", "a" * rng.randrange(200))
        send("RPUSH", f"l:{key % 200}", f"item {i}" * rng.randrange(1, 5))
        send("LTRIM", f"l:{rng.randrange(200)}", "0", "150")
        send("HSET", f"h:{key % 300}", f"f{rng.randrange(400)}", "h" * rng.randrange(100))
        send("SADD", f"t:{key % 100}", f"m{rng.randrange(5000)}")
        send("ZADD", f"z:{key % 50}", str(rng.randrange(9999)), f"m{rng.randrange(900)}")
        send("DEL", f"s:{rng.randrange(3000)}")
    for i in range(3):
        send("SETRANGE", f"big:{i}", str(8 << 20), "end")


def send(*words):
    text = "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
    sys.stdout.write(f"*{len(words)}\r\n{text}")


main()
