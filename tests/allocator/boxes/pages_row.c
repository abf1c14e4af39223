/* A thread that takes many large blocks of one length gets them in rows, ahead of its requests:
 * only where they lie free side by side, only as many as its cache may hold, and as they were. */
#include "base/classes.h"
#include "front/usage.h"
#include "include/hakmem.h"
#include "limits/limit.h"
#include "pages/range.h"
#include "pages/run_cache.h"
#include "pages/segment.h"
#include "policy/policy.h"
#include "thread/thread.h"

#include <string.h>

#include "../support/check.h"
#include "../support/large_runs.h"
#include "../support/memory.h"

enum {
    PAGES = 4,
    SIZE = PAGES << HAK_PAGE_SHIFT,
    OTHER = SIZE + 1,
    FIT = HAK_CACHED_PAGES / PAGES
};
enum { MANY = 4 * FIT };

static char *blocks[MANY];

static void come_all(size_t count) {
    for (size_t i = 0; i < count; i++)
        blocks[i] = come(SIZE);
}

static void go_all(size_t count) {
    for (size_t i = 0; i < count; i++)
        hak_free(blocks[i]);
}

static void another_length(void) {
    hak_free(come(OTHER));
}

/* The cache has room for FIT runs, and none of this length. */
static void begin(void) {
    hak_purge();
    come_all(FIT);
    go_all(FIT);
    CHECK(cached() == FIT);
    another_length();
}

/* ---- how many ---- */

static void a_second_miss_brings_half_of_the_room(void) {
    begin();
    char *first = come(SIZE);
    CHECK(cached() == 0);
    char *second = come(SIZE);
    CHECK_THAT(cached() == FIT / 2, "%zu of %d", cached(), FIT / 2);
    for (int i = 1; i <= FIT / 2; i++)
        CHECK(kind_of(second + i * SIZE) == HAK_RUN_AHEAD);
    for (int i = 1; i <= FIT / 2; i++)
        CHECK((blocks[i] = come(SIZE)) == second + i * SIZE);
    CHECK(cached() == 0 && hak_usage_is_valid());
    blocks[0] = first;
    go_all(FIT / 2 + 1);
    hak_free(second);
}

static void a_thread_that_never_frees_gets_none(void) {
    hak_purge();
    for (size_t i = 0; i < FIT; i++) {
        blocks[i] = come(SIZE);
        CHECK(cached() == 0);
    }
    go_all(FIT);
}

static void lengths_in_turn_bring_none(void) {
    begin();
    for (size_t i = 0; i < FIT; i += 2) {
        blocks[i] = come(SIZE);
        CHECK(cached() == 0);
        blocks[i + 1] = come(OTHER);
        CHECK(cached() == 0);
    }
    go_all(FIT);
}

/* Free places for one run each: the lowest is taken, and none behind it. */
static void a_hole_is_filled_by_one(void) {
    hak_purge();
    come_all(MANY);
    for (size_t i = 0; i < MANY; i += 2)
        hak_free(blocks[i]);
    another_length();
    CHECK(cached() == 1);
    char *lowest = come(SIZE), *next = come(SIZE);
    CHECK(lowest == blocks[0] && next == blocks[2] && cached() == 0);
    blocks[0] = lowest;
    blocks[2] = next;
    for (size_t i = 4; i < MANY; i += 2)
        blocks[i] = come(SIZE);
    go_all(MANY);
}

/* All that is in use may be, and one more run. */
static void near_the_limit_they_come_one_by_one(void) {
    begin();
    char *first = come(SIZE);
    hak_purge();
    size_t limit = hak_pages_used() + hak_pages_dirty() + PAGES;
    atomic_store(&hak_limit.hard, limit);
    atomic_store(&hak_limit.lowest, limit);
    char *second = come(SIZE);
    CHECK(second != NULL && cached() == 0 && hak_malloc(SIZE) == NULL);
    atomic_store(&hak_limit.hard, SIZE_MAX);
    atomic_store(&hak_limit.lowest, SIZE_MAX);
    hak_free(first);
    hak_free(second);
}

/* ---- as they were ---- */

/* Takes blocks until a run waits whose memory nobody has touched yet, right behind the last. */
static size_t come_to_fresh_ones(void) {
    begin();
    size_t count = 0;
    do {
        CHECK(count < MANY);
        blocks[count++] = come(SIZE);
    } while (cached() < 2 || !hak_run_cache_is_zero(hak_run_of(blocks[count - 1] + SIZE)));
    return count;
}

static void they_are_zero_for_calloc_without_a_touch(void) {
    size_t count = come_to_fresh_ones();
    char *block = hak_calloc(1, SIZE);
    CHECK(block == blocks[count - 1] + SIZE && resident_bytes(block, SIZE) == 0);
    memset(block, 1, SIZE);
    hak_free(block);
    char *again = hak_calloc(1, SIZE);
    CHECK(again == block && again[0] == 0 && memcmp(again, again + 1, SIZE - 1) == 0);
    hak_free(again);
    go_all(count);
}

static void they_go_back_as_clean_as_they_came(void) {
    size_t count = come_to_fresh_ones(), dirty = hak_pages_dirty(), used = hak_pages_used();
    size_t ahead = cached();
    char *other = come(OTHER);
    CHECK(cached() == 0 && hak_pages_dirty() <= dirty);
    CHECK(hak_pages_used() == used - ahead * PAGES + PAGES + 1);
    CHECK(hak_usage_is_valid());
    hak_free(other);
    go_all(count);
}

/* What waits is no live memory. */
static void they_are_not_live(void) {
    hak_usage before, after;
    begin();
    char *first = come(SIZE);
    hak_get_usage(&before);
    char *second = come(SIZE);
    hak_get_usage(&after);
    CHECK(cached() > 1 && after.large - before.large == SIZE && after.blocks - before.blocks == 1);
    hak_free(first);
    hak_free(second);
}

int main(void) {
    static char delay[] = "HAKMEM_PURGE_DELAY=3000000";
    hak_policy_read((char *const[]){delay, NULL});
    a_second_miss_brings_half_of_the_room();
    a_thread_that_never_frees_gets_none();
    lengths_in_turn_bring_none();
    a_hole_is_filled_by_one();
    near_the_limit_they_come_one_by_one();
    they_are_zero_for_calloc_without_a_touch();
    they_go_back_as_clean_as_they_came();
    they_are_not_live();
    hak_purge();
    CHECK(hak_validate());
    return 0;
}
