/* Many threads use one size after the other, a little of each, and sleep in between. Each holds
 * what it used lately, not all that it ever used. No purge epoch ends meanwhile, so nothing of this
 * goes back to the system. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { THREADS = 40, SIZES = 40, STEP = 96, OF_EACH = 200, TURNS = 2 * SIZES, SLEEP_MS = 20 };
/* Blocks of all sizes lie in some five slabs each; those of a few sizes may stay. */
enum { KIB_EACH = 1536 };

static pthread_barrier_t used, looked_at;

static void use(size_t size) {
    unsigned char *blocks[OF_EACH];
    for (size_t i = 0; i < OF_EACH; i++) {
        CHECK(blocks[i] = malloc(size));
        memset(blocks[i], (int)i, size);
    }
    for (size_t i = 0; i < OF_EACH; i++) {
        CHECK(blocks[i][0] == (unsigned char)i && blocks[i][size - 1] == (unsigned char)i);
        free(blocks[i]);
    }
}

static void *live(void *argument) {
    for (size_t turn = 0; turn < TURNS; turn++) {
        use(STEP * (1 + ((size_t)argument + turn) % SIZES));
        sleep_ms(SLEEP_MS);
    }
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&looked_at);
    return NULL;
}

int main(void) {
    static pthread_t threads[THREADS];
    hang_limit();
    CHECK(pthread_barrier_init(&used, NULL, THREADS + 1) == 0);
    CHECK(pthread_barrier_init(&looked_at, NULL, THREADS + 1) == 0);
    for (size_t i = 0; i < THREADS; i++)
        threads[i] = thread_start(live, (void *)i);
    pthread_barrier_wait(&used);
    size_t now = rss_kib();
    say("%zu KiB in %d threads", now, THREADS);
    CHECK(now <= (size_t)THREADS * KIB_EACH);
    pthread_barrier_wait(&looked_at);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    return 0;
}
