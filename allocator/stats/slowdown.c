#include "stats/slowdown.h"

#include <stdlib.h>

HAK_TLS unsigned char hak_mallocs_seen;

/* Never none: two fences with nothing in between were dearer than with ten rounds. */
enum { LEAST_ROUNDS = 100 };
static unsigned long rounds = LEAST_ROUNDS;
static unsigned long lines;

static HAK_AT_LOAD void read_doses(void) {
    const char *more = getenv("HAKMEM_SLOWDOWN"), *bloat = getenv("HAKMEM_BLOAT");
    if (more)
        rounds = LEAST_ROUNDS + strtoul(more, NULL, 10);
    if (bloat)
        lines = strtoul(bloat, NULL, 10) % (HAK_CODE_LINES + 1);
}

/* Fenced, so that no part of the wait hides behind other work: each round costs the same, however
 * few they are. */
void hak_wait(void) {
    HAK_FINISH_EARLIER_WORK();
    for (unsigned long left = rounds; left > 0; left--)
        HAK_KEEP_WIDTH(left);
    HAK_FINISH_EARLIER_WORK();
    HAK_RUN_LINES(lines);
}
