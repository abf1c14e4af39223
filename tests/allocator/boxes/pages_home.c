/* Homes: runs of two homes lie in ranges of their own, each has its memory back, and takes what
 * lies free elsewhere before it grows. Slabs stay in the first range until it is full. */
#include "pages/run.h"

#include "front/usage.h"
#include "pages/range.h"
#include "pages/segment.h"
#include "policy/policy.h"

#include "../support/check.h"

enum { PAGES = 100, FIRST = HAK_FIRST_HOME, SECOND, THIRD, FOURTH };

static hak_slab *take(unsigned home, size_t pages) {
    bool zeroed = false;
    hak_slab *run = hak_run_take(home, pages, 1, &zeroed);
    CHECK_THAT(run && run->pages == pages, "%zu pages at home %u", pages, home);
    run->kind = HAK_RUN_LARGE;
    return run;
}

static const hak_range *range_of(const hak_slab *run) {
    return hak_range_of((void *)run->start);
}

/* The very first range is everybody's, whoever asks first. */
static void each_has_a_range(void) {
    hak_slab *first = take(SECOND, PAGES), *own = take(SECOND, PAGES), *other = take(THIRD, PAGES);
    CHECK(range_of(first) == &hak_ranges[0]);
    CHECK(range_of(own) == &hak_ranges[1] && range_of(other) == &hak_ranges[2]);
    CHECK(range_of(take(FIRST, PAGES)) == &hak_ranges[0]);
    hak_run_give(first, false, false);
    hak_run_give(own, false, false);
    CHECK_THAT(take(SECOND, PAGES) == own, "its own, not the lower %zx", first->start);
    hak_run_give(other, false, false);
    CHECK(take(THIRD, PAGES) == other && take(FIRST, PAGES) == first);
}

static void free_memory_is_taken_before_it_grows(void) {
    hak_slab *own = take(SECOND, PAGES);
    hak_run_give(own, false, false);
    CHECK_THAT(take(FOURTH, PAGES) == own, "a further range while %zx is free", own->start);
    CHECK(range_of(take(FOURTH, PAGES)) == &hak_ranges[3]);
}

static void a_full_home_grows_elsewhere(void) {
    size_t pages = hak_ranges[1].segments_most * HAK_PAGES_PER_SEGMENT;
    CHECK(range_of(take(SECOND, pages)) != &hak_ranges[1]);
}

static void slabs_stay_in_the_first_range(void) {
    hak_slab *free_one = take(SECOND, PAGES);
    CHECK(range_of(free_one) == &hak_ranges[1]);
    hak_run_give(free_one, false, false);
    while (hak_range_can_grow(&hak_ranges[0], PAGES))
        CHECK(range_of(take(HAK_HOME_OF_SLABS, PAGES)) == &hak_ranges[0]);
    CHECK_THAT(take(HAK_HOME_OF_SLABS, PAGES) == free_one, "%zx is free", free_one->start);
}

int main(void) {
    static char reserve[] = "HAKMEM_RESERVE=128";
    hak_policy_read((char *const[]){reserve, NULL});
    each_has_a_range();
    free_memory_is_taken_before_it_grows();
    a_full_home_grows_elsewhere();
    slabs_stay_in_the_first_range();
    CHECK(hak_usage_is_valid());
    return 0;
}
