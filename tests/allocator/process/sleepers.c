/* Threads allocate, hand their blocks over and sleep. What the main thread then frees goes back: at
 * once by malloc_trim, and by itself while any thread allocates; with what lay in the sleepers'
 * magazines. Afterwards they go on as if nothing had happened. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/invariants.h"
#include "../support/memory.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"
#include "../support/trim.h"

enum { THREADS = 12, BLOCKS = 64 * 1024, ROUNDS = 3, OWN = 3000, MOST_SIZE = 700 };
/* Of the slack 5 MiB are for the marks that hardened builds keep beside the slabs: they stay while
 * a block of their segment lives. */
enum { LIVE_SHARE = 16, SLACK_KIB = 10 * 1024, LONG_RUN = 4096 };

static pthread_barrier_t handed_over, freed;
static void *blocks[THREADS][BLOCKS];
static size_t sizes[THREADS][BLOCKS];
static pthread_t threads[THREADS];

static void fill(void **blocks_of, size_t *sizes_of, Random *random, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sizes_of[i] = 16 + random_below(random, MOST_SIZE - 16);
        blocks_of[i] = malloc(sizes_of[i]);
        CHECK(blocks_of[i]);
        pattern_mark(blocks_of[i], sizes_of[i], i);
    }
}

/* Blocks that a thread keeps for itself, and some that it has freed last: they lie in magazines. */
static void use_own(Random *random) {
    static _Thread_local void *own[OWN];
    static _Thread_local size_t own_sizes[OWN];
    fill(own, own_sizes, random, OWN);
    for (size_t i = 0; i < OWN; i++) {
        CHECK(pattern_marked(own[i], own_sizes[i], i));
        free(own[i]);
    }
}

static void *live(void *argument) {
    size_t number = (size_t)((void *(*)[BLOCKS])argument - blocks);
    Random random = random_from(number + 1);
    for (int round = 0; round < ROUNDS; round++) {
        fill(blocks[number], sizes[number], &random, BLOCKS);
        use_own(&random);
        pthread_barrier_wait(&handed_over);
        pthread_barrier_wait(&freed);
        use_own(&random);
    }
    return NULL;
}

/* Runs of blocks stay, one in LIVE_SHARE. */
static bool stays(size_t i) {
    return i / LONG_RUN % LIVE_SHARE == 0;
}

static void free_those(bool that_stayed) {
    for (size_t t = 0; t < THREADS; t++)
        for (size_t i = 0; i < BLOCKS; i++) {
            if (stays(i) != that_stayed)
                continue;
            CHECK_THAT(pattern_marked(blocks[t][i], sizes[t][i], i), "block %zu of %zu", i, t);
            free(blocks[t][i]);
        }
}

static size_t count_live(void) {
    size_t bytes = 0;
    for (size_t t = 0; t < THREADS; t++)
        for (size_t i = 0; i < BLOCKS; i++)
            bytes += stays(i) ? sizes[t][i] : 0;
    return bytes / 1024;
}

static void round_of(void (*goes_back)(size_t allowed_kib), size_t at_start) {
    pthread_barrier_wait(&handed_over);
    size_t live_kib = count_live();
    free_those(false);
    say("at the start %zu KiB, live %zu", at_start, live_kib);
    goes_back(at_start + live_kib + live_kib / 5 + SLACK_KIB);
    free_those(true);
    pthread_barrier_wait(&freed);
}

int main(void) {
    hang_limit();
    if (nothing_is_taken())
        return SKIPPED;
    CHECK(pthread_barrier_init(&handed_over, NULL, THREADS + 1) == 0);
    CHECK(pthread_barrier_init(&freed, NULL, THREADS + 1) == 0);
    memset(sizes, 1, sizeof sizes);
    memset(blocks, 1, sizeof blocks);
    size_t at_start = rss_kib();
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(live, blocks[i]);
    round_of(goes_back_by_trim, at_start);
    round_of(goes_back_by_itself, at_start);
    round_of(goes_back_by_trim, at_start);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    invariants_hold();
    return 0;
}
