/* Threads use many sizes a little, free all and sleep. A heap each is all that stays, and of that
 * what its owner needs to go on: after malloc_trim, and by itself while any thread allocates. Then
 * they use the same sizes again. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { THREADS = 200, SIZES = 40, STEP = 48, OF_EACH = 3, ROUNDS = 2 };
enum { KIB_EACH = 12, SLACK_KIB = 1024 };

static pthread_barrier_t started, used, looked_at;

static void use(size_t mark) {
    unsigned char *blocks[SIZES * OF_EACH];
    for (size_t i = 0; i < SIZES * OF_EACH; i++) {
        size_t size = 16 + i % SIZES * STEP;
        CHECK(blocks[i] = malloc(size));
        memset(blocks[i], (int)(mark + i), size);
    }
    for (size_t i = 0; i < SIZES * OF_EACH; i++) {
        size_t size = 16 + i % SIZES * STEP;
        CHECK(blocks[i][0] == (unsigned char)(mark + i) &&
              blocks[i][size - 1] == (unsigned char)(mark + i));
        free(blocks[i]);
    }
}

static void *live(void *argument) {
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&looked_at);
    for (size_t round = 0; round < ROUNDS; round++) {
        use((size_t)argument + round);
        pthread_barrier_wait(&used);
        pthread_barrier_wait(&looked_at);
    }
    return NULL;
}

static void goes_back_by_trim(size_t allowed) {
    size_t before = rss_kib();
    malloc_trim(0);
    size_t after = rss_kib();
    say("allowed %zu: RSS %zu -> %zu KiB after malloc_trim", allowed, before, after);
    CHECK_THAT(after <= allowed, "%zu KiB, allowed are %zu", after, allowed);
}

/* Until it is so: how long that takes is not asked here. */
static void goes_back_by_itself(size_t allowed) {
    size_t before = rss_kib(), after;
    unsigned long looks = 0;
    do {
        free(malloc(100));
        sleep_ms(1);
        looks++;
        after = rss_kib();
    } while (after > allowed);
    say("allowed %zu: RSS %zu -> %zu KiB after %lu looks", allowed, before, after, looks);
}

static void round_of(void (*goes_back)(size_t allowed), size_t allowed) {
    pthread_barrier_wait(&used);
    goes_back(allowed);
    pthread_barrier_wait(&looked_at);
}

int main(void) {
    static pthread_t threads[THREADS];
    hang_limit();
    if (calls_are_filtered()) {
        say("nothing is taken from such threads under a filter of system calls");
        return SKIPPED;
    }
    CHECK(pthread_barrier_init(&started, NULL, THREADS + 1) == 0);
    CHECK(pthread_barrier_init(&used, NULL, THREADS + 1) == 0);
    CHECK(pthread_barrier_init(&looked_at, NULL, THREADS + 1) == 0);
    for (size_t i = 0; i < THREADS; i++)
        threads[i] = thread_start(live, (void *)i);
    pthread_barrier_wait(&started);
    size_t allowed = rss_kib() + (size_t)THREADS * KIB_EACH + SLACK_KIB;
    pthread_barrier_wait(&looked_at);
    round_of(goes_back_by_trim, allowed);
    round_of(goes_back_by_itself, allowed);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    return 0;
}
