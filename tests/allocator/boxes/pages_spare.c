/* Spare runs: a huge run comes back whole, with what it held or purged, to whom it fits; the oldest
 * leaves when there are too many, and all of them on request, or when the system keeps their memory
 * or has none.
 *
 * A signal handler may fork while the system takes memory away, of spare runs and of others: the
 * child goes on where its parent was, and so does its own child. */
#include "pages/spare.h"

#include "reclaim/purge.h"
#include "front/usage.h"
#include "os/os.h"
#include "pages/dirty.h"
#include "pages/range.h"
#include "pages/run.h"
#include "pages/segment.h"

#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/threads.h"

enum { PAGES = 256, MANY = 40 };

static bool refuses, forks; /* forks: once, as a handler of signals would */
static pid_t child;
bool __real_hak_os_purge(void *start, size_t size);
bool __wrap_hak_os_purge(void *start, size_t size);
bool __wrap_hak_os_purge(void *start, size_t size) {
    if (forks)
        child = fork();
    forks = false;
    return !refuses && __real_hak_os_purge(start, size);
}

static hak_slab *take(size_t pages, size_t align, bool *zeroed) {
    hak_slab *run = hak_spare_take(pages, align, zeroed);
    if (run == NULL)
        run = hak_run_take(HAK_FIRST_HOME, pages, align, zeroed);
    CHECK_THAT(run && run->pages >= pages, "%zu pages", pages);
    CHECK_THAT(run->start % (align << HAK_PAGE_SHIFT) == 0, "%zx", (size_t)run->start);
    run->kind = HAK_RUN_LARGE;
    return run;
}

static void comes_back_with_what_it_held(void) {
    bool zeroed = false;
    hak_slab *run = take(PAGES, 1, &zeroed);
    pattern_fill((char *)run->start, 64, 5);
    hak_spare_give(run, false, 0);
    CHECK(run->kind == HAK_RUN_FREE);
    CHECK(take(PAGES - 1, 1, &zeroed) == run && !zeroed &&
          pattern_holds((char *)run->start, 64, 5));
    hak_spare_give(run, false, 0);
}

static void comes_back_purged(void) {
    bool zeroed = false;
    hak_slab *run = take(PAGES, 1, &zeroed);
    pattern_fill((char *)run->start, 64, 5);
    hak_spare_give(run, false, 0);
    hak_spare_purge();
    CHECK(take(PAGES, 1, &zeroed) == run && zeroed && all_zero((char *)run->start, 64));
    hak_spare_give(run, zeroed, 0);
}

static void leaves_when_it_cannot_be_purged(void) {
    bool zeroed = false;
    hak_slab *run = take(PAGES, 1, &zeroed);
    pattern_fill((char *)run->start, 64, 5);
    hak_spare_give(run, false, 0);
    refuses = true;
    hak_spare_purge();
    refuses = false;
    CHECK(!hak_spare_release() && hak_usage_is_valid());
}

static void the_shortest_that_fits(void) {
    bool zeroed = false;
    hak_spare_release();
    hak_slab *longer = take(PAGES * 2, 1, &zeroed), *shorter = take(PAGES, 1, &zeroed);
    hak_spare_give(longer, false, 0);
    hak_spare_give(shorter, false, 0);
    CHECK(take(PAGES, 1, &zeroed) == shorter);
    hak_spare_give(shorter, false, 0);
    hak_slab *tiny = take(1, 1, &zeroed);
    CHECK_THAT(tiny != longer && tiny != shorter && tiny->pages == 1, "%u pages", tiny->pages);
    hak_run_give(tiny, zeroed, false);
}

static void aligned_as_asked(void) {
    bool zeroed = false;
    for (size_t align = 1; align <= 1024; align *= 2)
        hak_spare_give(take(PAGES, align, &zeroed), false, 0);
}

/* Each filled at its beginning: none of them is handed out twice. */
static void too_many(void) {
    bool zeroed = false;
    hak_slab *runs[MANY];
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < MANY; i++) {
            runs[i] = take(PAGES + i, 1, &zeroed);
            pattern_fill((char *)runs[i]->start, 64, i);
        }
        for (size_t i = 0; i < MANY; i++) {
            CHECK(pattern_holds((char *)runs[i]->start, 64, i));
            hak_spare_give(runs[i], false, 0);
        }
        CHECK(hak_usage_is_valid());
    }
}

/* What is taken after the fork is taken in a child, too. */
static void child_is_whole(size_t used) {
    bool zeroed;
    CHECK_THAT(hak_pages_used() == used && hak_pages_held() == used, "%zu, %zu, not %zu pages",
               hak_pages_used(), hak_pages_held(), used);
    hak_slab *run = take(PAGES, 1, &zeroed);
    const hak_range *r = hak_range_of((void *)run->start);
    pid_t own = fork();
    CHECK(!hak_pages_are_free(r, (size_t)(run - r->slabs), PAGES) && hak_usage_is_valid());
    if (own != 0)
        child_must_succeed(own);
    _exit(0);
}

static void parent_and_child_go_on(size_t used) {
    CHECK(child >= 0);
    if (child == 0)
        child_is_whole(used);
    child_must_succeed(child);
}

static void fork_within_a_purge(void) {
    bool zeroed;
    hak_slab *run = hak_run_take(HAK_FIRST_HOME, 2 * PAGES, 1, &zeroed);
    CHECK(run);
    hak_run_trim(run, PAGES);
    forks = true;
    hak_dirty_purge_behind(run, PAGES);
    parent_and_child_go_on(PAGES);
    hak_spare_give(run, false, 0);
    forks = true;
    hak_spare_release();
    parent_and_child_go_on(0);
}

static void nothing_is_left(void) {
    CHECK(hak_spare_release());
    CHECK(!hak_spare_release() && hak_pages_used() == 0);
    hak_purge_all(NULL);
    hak_usage usage;
    hak_get_usage(&usage);
    CHECK_THAT(usage.free == 0 && usage.blocks == 0, "%zu bytes still backed", usage.free);
}

int main(void) {
    comes_back_with_what_it_held();
    comes_back_purged();
    leaves_when_it_cannot_be_purged();
    the_shortest_that_fits();
    aligned_as_asked();
    too_many();
    hak_spare_release();
    fork_within_a_purge();
    hak_spare_give(take(PAGES, 1, &(bool){false}), false, 0);
    nothing_is_left();
    return 0;
}
