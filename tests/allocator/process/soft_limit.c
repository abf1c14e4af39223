/* Above the soft limit a thread that takes more memory gives back what it keeps of other sizes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { BYTES = 1 << 19, LEAST = 64, MOST = 8192 };

static void use(void **blocks, size_t size) {
    for (size_t i = 0; i < BYTES / size; i++)
        CHECK(blocks[i] = memset(malloc(size), 1, size));
    for (size_t i = 0; i < BYTES / size; i++)
        free(blocks[i]);
}

static void use_many_sizes(void) {
    static void *blocks[BYTES / LEAST];
    for (size_t size = LEAST; size <= MOST; size += LEAST)
        use(blocks, size);
}

/* The delay is long, so nothing else gives back what lies free. */
int main(int count, char **arguments) {
    if (count == 1) {
        setenv("HAKMEM_SOFT_LIMIT", "1", 1);
        setenv("HAKMEM_PURGE_DELAY", "3000000", 1);
        execl(arguments[0], arguments[0], "limited", NULL);
    }
    size_t before_kib = rss_kib();
    use_many_sizes();
    CHECK_THAT(rss_kib() < before_kib + 2048, "%zu KiB, %zu before", rss_kib(), before_kib);
    return 0;
}
