/* Runs of pages against a model: never two runs on one page, alignment as asked, zero where
 * promised, extended and trimmed in place, and found again from any address inside. */
#include "reclaim/purge.h"
#include "front/usage.h"
#include "pages/range.h"
#include "pages/run.h"
#include "pages/segment.h"

#include <string.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/random.h"

enum { RUNS = 300, STEPS = 20000, MOST_PAGES = 100, MOST_ALIGNMENT = 128 };

static hak_slab *runs[RUNS];

static size_t bytes_in(const hak_slab *run) {
    return (size_t)run->pages << HAK_PAGE_SHIFT;
}

static void mark(hak_slab *run) {
    for (size_t page = 0; page < run->pages; page++)
        pattern_fill((char *)run->start + (page << HAK_PAGE_SHIFT), 64, run->start + page);
}

static void check(const hak_slab *run) {
    for (size_t page = 0; page < run->pages; page++)
        CHECK(pattern_holds((char *)run->start + (page << HAK_PAGE_SHIFT), 64, run->start + page));
}

static void take(size_t i, Random *random) {
    bool zeroed = false;
    size_t pages = 1 + random_below(random, random_below(random, 4) ? 8 : MOST_PAGES);
    size_t align = (size_t)1 << random_below(random, 8);
    hak_slab *run = hak_run_take(HAK_FIRST_HOME, pages, align, &zeroed);
    CHECK_THAT(run && run->pages == pages, "%zu pages", pages);
    CHECK_THAT(run->start % (align << HAK_PAGE_SHIFT) == 0, "%zx for alignment %zu",
               (size_t)run->start, align);
    if (zeroed)
        for (size_t page = 0; page < pages; page++)
            CHECK(all_zero((char *)run->start + (page << HAK_PAGE_SHIFT), 64));
    run->kind = HAK_RUN_LARGE;
    mark(run);
    runs[i] = run;
}

static void change(size_t i, Random *random) {
    hak_slab *run = runs[i];
    size_t pages = run->pages;
    if (random_below(random, 2) && hak_run_extend(run, pages + 1 + random_below(random, 40)))
        CHECK(run->pages > pages);
    else if (pages > 1)
        hak_run_trim(run, 1 + random_below(random, pages - 1));
    mark(run);
}

static void give(size_t i) {
    hak_run_give(runs[i], false, false);
    runs[i] = NULL;
}

static void found_from_inside(const hak_slab *run) {
    const hak_range *range = hak_range_of((void *)run->start);
    CHECK(range && hak_range_of((char *)run->start + bytes_in(run) - 1) == range);
    CHECK(hak_run_of((void *)run->start) == run);
}

static void step(Random *random) {
    size_t i = random_below(random, RUNS);
    if (!runs[i]) {
        take(i, random);
        return;
    }
    check(runs[i]);
    found_from_inside(runs[i]);
    if (random_below(random, 3) == 0)
        change(i, random);
    else
        give(i);
}

int main(void) {
    Random random = random_from(21);
    for (int i = 0; i < STEPS; i++) {
        step(&random);
        if (i % 500 == 0) {
            hak_purge_all(NULL);
            CHECK(hak_usage_is_valid());
        }
    }
    for (size_t i = 0; i < RUNS; i++) {
        if (runs[i]) {
            check(runs[i]);
            give(i);
        }
    }
    CHECK(hak_usage_is_valid());
    hak_purge_all(NULL);
    hak_usage usage;
    hak_get_usage(&usage);
    CHECK_THAT(usage.free == 0 && usage.blocks == 0, "%zu bytes still backed", usage.free);
    CHECK(!hak_range_of(&random) && !hak_range_of(NULL));
    return 0;
}
