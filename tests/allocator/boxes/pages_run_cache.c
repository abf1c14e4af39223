/* A thread's large blocks of one size, and its slabs, come and go by its cache: within bounds, not
 * as live memory, and back to the system by the purge, at the end of the thread and in a forked
 * child. */
#include "pages/run_cache.h"

#include "pages/epoch.h"
#include "base/classes.h"
#include "thread/thread.h"
#include "front/usage.h"
#include "include/hakmem.h"
#include "os/os.h"
#include "pages/excess.h"
#include "pages/range.h"
#include "pages/run.h"
#include "pages/segment.h"
#include "policy/policy.h"
#include "stats/stats.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/large_runs.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { MIB = 1 << 20, SMALL = 66000, ROUNDS = 1000, MANY = 20 };
static const size_t sizes[] = {SMALL, 128 << 10, MIB, 4 * MIB};

static void wait_for(sem_t *sem) {
    while (sem_wait(sem) != 0)
        CHECK(errno == EINTR);
}

/* ---- coming and going ---- */

static void comes_again_without_the_segments(size_t size) {
    void *first = come(size), *kept[3] = {come(size), come(size), come(size)};
    hak_free(first);
    size_t runs = HAK_COUNTED(runs_taken);
    for (int i = 0; i < ROUNDS; i++) {
        void *block = come(size);
        CHECK_THAT(block == first, "%zu bytes, round %d", size, i);
        memset(block, i, 100);
        hak_free(block);
        CHECK(kind_of(block) == HAK_RUN_CACHED);
    }
    size_t more = HAK_COUNTED(runs_taken) - runs;
    CHECK_THAT(more < ROUNDS / 10, "%zu bytes: %zu runs of %d", size, more, ROUNDS);
    for (int i = 0; i < 3; i++)
        hak_free(kept[i]);
}

static void an_empty_one_has_none_of_the_longest_sizes(void) {
    hak_run_cache_empty(hak_this_thread.owned, false);
    for (size_t less = 0; less < (size_t)2 * MIB; less += 1 << 14)
        CHECK(hak_malloc(SIZE_MAX - less) == NULL);
}

static void is_not_live(void) {
    hak_usage with, without;
    void *block = come(MIB);
    hak_get_usage(&with);
    hak_free(block);
    CHECK(kind_of(block) == HAK_RUN_CACHED);
    hak_get_usage(&without);
    CHECK(with.large - without.large == MIB && with.used - without.used == MIB);
    CHECK(with.blocks - without.blocks == 1 && without.free - with.free >= MIB);
}

static void others_of_its_length_come_first_the_newest(void) {
    void *a = come(MIB), *b = come(2 * MIB - 5), *c = come(MIB);
    hak_free(a), hak_free(b), hak_free(c);
    CHECK(cached() == 3);
    CHECK(come(2 * MIB - 7) == b && cached() == 2);
    CHECK(come(MIB) == c && come(MIB) == a && cached() == 0);
    hak_free(a), hak_free(b), hak_free(c);
}

static void another_length_sends_them_back(void) {
    hak_purge();
    void *block = come(MIB);
    hak_free(block);
    size_t used = hak_pages_used();
    void *other = come(3 * MIB);
    CHECK(cached() == 0 && kind_of(block) != HAK_RUN_CACHED);
    CHECK(hak_pages_used() == used + 2 * MIB / HAK_PAGE_SIZE);
    hak_free(other);
}

static void it_is_zero_for_calloc(void) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *block = come(sizes[i]);
        memset(block, 7, sizes[i]);
        hak_free(block);
        char *zeroed = hak_calloc(1, sizes[i]);
        CHECK(zeroed == block && zeroed[0] == 0 && memcmp(zeroed, zeroed + 1, sizes[i] - 1) == 0);
        hak_free(zeroed);
    }
}

enum { SLABS = 40, BLOCKS = SLABS * (HAK_PAGE_SIZE / 64) };

static void build_up_and_tear_down(void) {
    static void *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++)
        CHECK((blocks[i] = hak_malloc(64)) != NULL);
    for (size_t i = 0; i < BLOCKS; i++)
        hak_free(blocks[i]);
}

static void slabs_come_again_without_the_segments(void) {
    for (int i = 0; i < 4; i++)
        build_up_and_tear_down();
    CHECK_THAT(cached() > 1, "%zu slabs wait", cached());
    size_t runs = HAK_COUNTED(runs_taken);
    for (int i = 0; i < 4; i++)
        build_up_and_tear_down();
    CHECK_THAT(HAK_COUNTED(runs_taken) == runs, "%zu runs", HAK_COUNTED(runs_taken) - runs);
    hak_purge();
}

/* A run as of a large block of a thread with another home. */
static hak_slab *run_elsewhere(size_t pages) {
    bool zeroed;
    hak_slab *run;
    do {
        run = hak_run_take(HAK_FIRST_HOME + 1, pages, 1, &zeroed);
        CHECK(run != NULL);
        run->kind = HAK_RUN_LARGE;
    } while (hak_range_of((void *)run->start) == &hak_ranges[0]);
    return run;
}

/* free looks for the class of a block in the first range alone. */
static void slabs_take_none_of_another_range(void) {
    unsigned cls = 1;
    while (hak_classes[cls].pages != 2)
        cls++;
    hak_slab *run = run_elsewhere(2);
    CHECK(hak_run_cache_push(hak_this_thread.owned, run) && cached() == 1);
    void *block = hak_malloc(hak_classes[cls].size);
    CHECK(hak_range_of(block) == &hak_ranges[0] && run->kind == HAK_RUN_FREE);
    hak_free(block);
    hak_purge();
}

/* ---- bounds ---- */

static void holds_few(size_t size) {
    void *blocks[MANY];
    for (int i = 0; i < MANY; i++)
        blocks[i] = come(size);
    for (int i = 0; i < MANY; i++)
        hak_free(blocks[i]);
    size_t pages = 0, runs = 0;
    for (int i = 0; i < MANY; i++)
        if (kind_of(blocks[i]) == HAK_RUN_CACHED)
            runs++, pages += hak_run_of(blocks[i])->pages;
    CHECK_THAT(runs == cached() && runs != 0, "%zu runs", runs);
    CHECK_THAT(pages <= HAK_CACHED_PAGES, "%zu pages of %zu bytes each", pages, size);
}

enum { RUN_PAGES = 4, FIT = HAK_CACHED_PAGES / RUN_PAGES };

/* Runs of four pages, one more than fit: then half of them are left, the newest, and that one. */
static void the_older_half_leaves_a_full_one(void) {
    static void *blocks[FIT + 1];
    hak_purge();
    for (size_t i = 0; i <= FIT; i++)
        blocks[i] = come(RUN_PAGES * HAK_PAGE_SIZE);
    for (size_t i = 0; i < FIT; i++)
        hak_free(blocks[i]);
    CHECK_THAT(cached() == FIT, "%zu of %d", cached(), FIT);
    hak_free(blocks[FIT]);
    CHECK_THAT(cached() == FIT - FIT / 2 + 1, "%zu of %d", cached(), FIT);
    for (size_t i = 0; i <= FIT; i++)
        CHECK(kind_of(blocks[i]) == (i < FIT / 2 ? HAK_RUN_FREE : HAK_RUN_CACHED));
    CHECK(hak_usage_is_valid());
    CHECK(come(RUN_PAGES * HAK_PAGE_SIZE) == blocks[FIT]);
    hak_free(blocks[FIT]);
    hak_purge();
}

static void all_together_hold_no_more_than_may_wait(void) {
    hak_purge();
    size_t borrowed = 0;
    while (hak_excess_borrow(1))
        borrowed++;
    CHECK_THAT(borrowed >= HAK_HUGE_PAGES, "%zu pages", borrowed);
    void *block = come(MIB);
    hak_free(block);
    CHECK(cached() == 0);
    hak_excess_give_back(borrowed);
    hak_free(come(MIB));
    CHECK(cached() == 1);
}

/* ---- back to the system ---- */

static void goes_by_trim(void) {
    void *block = memset(come(MIB), 1, MIB);
    hak_free(block);
    CHECK(cached() == 1 && resident_bytes(block, MIB) == MIB);
    CHECK(hak_purge() >= MIB && cached() == 0 && resident_bytes(block, MIB) == 0);
    CHECK(hak_excess_borrowed() == 0);
}

static sem_t is_cached, may_end;
static void *block_of_other;

static void *cache_and_sleep(void *unused) {
    block_of_other = memset(come(MIB), 1, MIB);
    hak_free(block_of_other);
    sem_post(&is_cached);
    wait_for(&may_end);
    return unused;
}

static pthread_t other_thread(void) {
    pthread_t other = thread_start(cache_and_sleep, NULL);
    wait_for(&is_cached);
    return other;
}

static void end_it(pthread_t other) {
    sem_post(&may_end);
    thread_join(other);
}

/* Who comes by is the reclaimer. */
static void goes_while_its_thread_sleeps(void) {
    pthread_t other = other_thread();
    for (size_t i = 0; resident_bytes(block_of_other, MIB) != 0; i++) {
        hak_free(come(SMALL + i % 2 * MIB));
        usleep(1000);
    }
    CHECK(kind_of(block_of_other) != HAK_RUN_CACHED);
    end_it(other);
}

static void goes_at_the_end_of_its_thread(void) {
    hak_purge();
    pthread_t other = other_thread();
    CHECK(kind_of(block_of_other) == HAK_RUN_CACHED && hak_excess_borrowed() != 0);
    end_it(other);
    CHECK(kind_of(block_of_other) != HAK_RUN_CACHED && hak_excess_borrowed() == 0);
}

static void the_clock_goes_on(void) {
    uint32_t epoch = hak_epoch_number();
    while (hak_epoch_number() - epoch < 3)
        hak_free(come(MIB));
}

static void a_child_has_it_back(void) {
    pthread_t other = other_thread();
    CHECK(kind_of(block_of_other) == HAK_RUN_CACHED);
    size_t used = hak_pages_used();
    pid_t child = fork();
    if (child == 0) {
        CHECK(kind_of(block_of_other) == HAK_RUN_FREE);
        CHECK(hak_pages_used() == used - MIB / HAK_PAGE_SIZE && hak_validate());
        hak_purge();
        CHECK(hak_excess_borrowed() == 0 && resident_bytes(block_of_other, MIB) == 0);
        _exit(0);
    }
    child_must_succeed(child);
    CHECK(kind_of(block_of_other) == HAK_RUN_CACHED);
    end_it(other);
}

/* Another thread has given back what its cache may hold, and not noted it in its heap yet. */
static void a_child_counts_anew_what_caches_hold(void) {
    pthread_t other = other_thread();
    size_t pages = hak_excess_borrowed() - hak_this_thread.owned->cache.most;
    CHECK_THAT(pages >= MIB / HAK_PAGE_SIZE, "%zu pages", pages);
    hak_excess_give_back(pages);
    pid_t child = fork();
    if (child == 0) {
        size_t all = hak_excess_borrowed(), own = hak_this_thread.owned->cache.most;
        CHECK_THAT(all == own, "%zu pages, %zu of them this thread's", all, own);
        hak_purge();
        CHECK(hak_excess_borrowed() == 0);
        _exit(0);
    }
    child_must_succeed(child);
    CHECK(hak_excess_borrow(pages));
    end_it(other);
}

/* The epoch that runs ends soon; the next one never does. */
static void without_the_clock(void) {
    enum { LONG_MS = 600000 };
    static char delay[] = "HAKMEM_PURGE_DELAY=3000000";
    hak_policy_read((char *const[]){delay, NULL});
    while (hak_epoch_ends_ms() < hak_os_now_ms() + LONG_MS)
        hak_free(come(MIB));
}

int main(void) {
    static char delay[] = "HAKMEM_PURGE_DELAY=50";
    hang_limit();
    hak_policy_read((char *const[]){delay, NULL});
    CHECK(sem_init(&is_cached, 0, 0) == 0 && sem_init(&may_end, 0, 0) == 0);
    if (!calls_are_filtered())
        goes_while_its_thread_sleeps();
    the_clock_goes_on();
    without_the_clock();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        comes_again_without_the_segments(sizes[i]);
    slabs_come_again_without_the_segments();
    slabs_take_none_of_another_range();
    an_empty_one_has_none_of_the_longest_sizes();
    is_not_live();
    it_is_zero_for_calloc();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        holds_few(sizes[i]);
    the_older_half_leaves_a_full_one();
    all_together_hold_no_more_than_may_wait();
    others_of_its_length_come_first_the_newest();
    another_length_sends_them_back();
    goes_by_trim();
    goes_at_the_end_of_its_thread();
    a_child_has_it_back();
    a_child_counts_anew_what_caches_hold();
    CHECK(hak_validate());
    return 0;
}
