/* The tree of free room against a plain search: every run is the lowest one that is long enough,
 * also across segments, and many of them so that the tree grows by levels. */
#include "front/usage.h"
#include "pages/range.h"
#include "pages/room.h"
#include "pages/run.h"
#include "pages/segment.h"

#include "../support/check.h"
#include "../support/random.h"

enum { RUNS = 700, STEPS = 6000, MOST_PAGES = 90 };

static hak_slab *runs[RUNS];

static bool is_used(const hak_range *r, size_t page) {
    return (r->segments[page / HAK_PAGES_PER_SEGMENT].used >> page % HAK_PAGES_PER_SEGMENT & 1) !=
           0;
}

/* First page of the lowest run of `pages` free ones, HAK_NO_ROOM when there is none. */
static size_t lowest(const hak_range *r, size_t pages) {
    size_t free_pages = 0;
    for (size_t page = 0; page < r->segments_fresh * HAK_PAGES_PER_SEGMENT; page++) {
        free_pages = is_used(r, page) ? 0 : free_pages + 1;
        if (free_pages == pages)
            return page + 1 - pages;
    }
    return HAK_NO_ROOM;
}

static void take(size_t i, Random *random) {
    hak_range *r = &hak_ranges[0];
    size_t pages = 1 + random_below(random, random_below(random, 4) ? 6 : MOST_PAGES);
    size_t expected = r->segments_fresh != 0 ? lowest(r, pages) : HAK_NO_ROOM;
    CHECK(r->segments_fresh == 0 || hak_room_find(r, pages) == expected);
    bool zeroed;
    runs[i] = hak_run_take(HAK_FIRST_HOME, pages, 1, &zeroed);
    CHECK(runs[i]);
    runs[i]->kind = HAK_RUN_LARGE;
    size_t page = hak_page_index(r, (void *)runs[i]->start);
    CHECK_THAT(expected == HAK_NO_ROOM || page == expected, "%zu pages at %zu, not %zu", pages,
               page, expected);
}

/* The room at the end is joined with new segments: a run that did not fit begins in it. */
static void grows_from_the_end(void) {
    hak_range *r = &hak_ranges[0];
    size_t room = hak_room_at_end(r), end = r->segments_fresh * HAK_PAGES_PER_SEGMENT;
    bool zeroed;
    hak_slab *run = hak_run_take(HAK_FIRST_HOME, end + 1, 1, &zeroed);
    CHECK(run && hak_page_index(r, (void *)run->start) == end - room);
    hak_run_give(run, true, false);
}

/* A range that ends with more free pages than are wanted lacks nothing. */
static void room_at_the_end_is_enough(void) {
    hak_range *r = &hak_ranges[0];
    size_t room = hak_room_at_end(r), segments = r->segments_fresh;
    CHECK_THAT(room > 2 * HAK_PAGES_PER_SEGMENT, "%zu pages", room);
    for (size_t pages = 1; pages <= room; pages++)
        CHECK_THAT(hak_range_can_grow(r, pages), "%zu of %zu pages", pages, room);
    CHECK(hak_range_grow(r, 1) == r && r->segments_fresh == segments);
}

int main(void) {
    Random random = random_from(5);
    for (int step = 0; step < STEPS; step++) {
        size_t i = random_below(&random, RUNS);
        if (!runs[i]) {
            take(i, &random);
        } else {
            hak_run_give(runs[i], false, false);
            runs[i] = NULL;
        }
    }
    CHECK_THAT(hak_ranges[0].segments_fresh > 16, "only %zu segments: one level",
               hak_ranges[0].segments_fresh);
    CHECK(hak_usage_is_valid());
    grows_from_the_end();
    room_at_the_end_is_enough();
    CHECK(hak_usage_is_valid());
    return 0;
}
