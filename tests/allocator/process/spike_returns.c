/* Memory goes back by itself: after a spike of 1 GiB that is freed, RSS returns to within 10 % of
 * before and 1/512 of the spike in a program that goes on allocating a little: within 500 turns,
 * each of which begins ten milliseconds after the one before, or later on a machine that is busy.
 * The slabs that stay for what it allocates may lie in as many segments as they are, each with
 * bitmaps of its own: 1.2 MiB on a quiet machine, up to 2.3 MiB at a load of 20. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/random.h"
#include "../support/threads.h"

#define SPIKE ((size_t)1 << 30)
enum { WORKING_SET = 16 << 20, PATIENCE = 500, PAUSE_MS = 10, MAX_BLOCKS = 11 << 20 };

typedef struct {
    const char *name;
    size_t least, most; /* sizes in bytes; both powers of two, least <= most */
} Spike;

static const Spike spikes[] = {
    {"small blocks", 128, 1024},
    {"middle blocks", 8192, 65536},
    {"large blocks", 1 << 20, 32 << 20},
    {"mixed blocks", 128, 4 << 20},
};
enum { SPIKES = sizeof spikes / sizeof *spikes };

static void **blocks; /* mapped by the test itself: not part of what is measured */
#define TABLE_SIZE (MAX_BLOCKS * sizeof *blocks)

static size_t spike_size(const Spike *spike, Random *random) {
    size_t low = spike->least;
    while (low < spike->most && random_below(random, 3))
        low *= 2;
    return low;
}

static size_t rise(const Spike *spike) {
    Random random = random_from(spike->least);
    size_t count = 0;
    for (size_t total = 0; total < SPIKE; count++) {
        size_t size = spike_size(spike, &random);
        CHECK(count < MAX_BLOCKS && (blocks[count] = malloc(size)));
        memset(blocks[count], 1, size);
        total += size;
    }
    return count;
}

static void fall(size_t count) {
    free_in_random_order(blocks, count);
    CHECK(madvise((void *)blocks, TABLE_SIZE, MADV_DONTNEED) == 0);
}

static void *rise_and_fall(void *spike) {
    fall(rise(spike));
    return NULL;
}

static void many_sizes(unsigned turn) {
    void *few[50];
    for (unsigned i = 0; i < 50; i++)
        few[i] = malloc((turn * 50 + i) * 37 % 5000);
    for (unsigned i = 0; i < 50; i++)
        free(few[i]);
}

/* The least a program can do: one malloc and one free of one size in each turn. */
static void one_pair(unsigned turn) {
    (void)turn;
    free(malloc(64));
}

static void wait_for_return(const char *what, size_t before, void (*little)(unsigned)) {
    size_t allowed = before + before / 10 + SPIKE / 512 / 1024, now = 0;
    for (unsigned turn = 0; turn <= PATIENCE; turn++) {
        little(turn);
        if (turn % 10 == 0 && (now = rss_kib()) <= allowed) {
            say("%s: %zu KiB before, %zu KiB after %u turns", what, before, now, turn);
            return;
        }
        sleep_ms(PAUSE_MS);
    }
    CHECK_THAT(now <= allowed, "%s: %zu KiB before, %zu KiB after %d turns", what, before, now,
               PATIENCE);
}

static void spike_in_this_thread(const Spike *spike, void (*little)(unsigned)) {
    size_t before = rss_kib();
    size_t count = rise(spike);
    CHECK_THAT(rss_kib() > before + SPIKE / 1024 / 10 * 9, "the spike was not one");
    fall(count);
    wait_for_return(spike->name, before, little);
}

int main(void) {
    blocks = mmap(NULL, TABLE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)blocks != MAP_FAILED);
    char *working_set = malloc(WORKING_SET);
    memset(working_set, 1, WORKING_SET);
    for (unsigned turn = 0; turn < 100; turn++)
        many_sizes(turn);
    for (int i = 0; i < SPIKES; i++)
        spike_in_this_thread(&spikes[i], i % 2 ? one_pair : many_sizes);
    spike_in_this_thread(&spikes[0], one_pair);
    size_t before = rss_kib();
    thread_join(thread_start(rise_and_fall, (void *)(size_t)&spikes[3]));
    wait_for_return("mixed blocks of a thread that ended", before, one_pair);
    free(working_set);
    return 0;
}
