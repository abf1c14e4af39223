/* Large blocks get their memory at once while all of them are used as a whole, one in eight
 * excepted, and no longer as soon as one is used in part. The test plays the system: it says what
 * is resident and sees what is asked for. */
#include "pages/populate.h"

#include "base/geometry.h"
#include "os/os.h"
#include "pages/range.h"
#include "pages/segment.h"

#include "../support/check.h"

enum { PAGES = 8, LONG = 2000, EACH = 64 };

static bool is_used; /* what the program does with a block: nothing, or all of it is written to */
static bool is_populated;
static size_t questions;

size_t __wrap_hak_os_resident(void *start, size_t size);
size_t __wrap_hak_os_resident(void *start, size_t size) {
    (void)start;
    questions++;
    return is_used ? size : 0;
}

bool __wrap_hak_os_populate(void *start, size_t size);
bool __wrap_hak_os_populate(void *start, size_t size) {
    CHECK(hak_run_of(start)->start == (uintptr_t)start && size == PAGES * HAK_PAGE_SIZE);
    return is_populated = true;
}

static hak_slab *taken(size_t pages) {
    bool zeroed;
    hak_slab *run = hak_run_take(pages, 1, &zeroed);
    CHECK(run);
    run->kind = HAK_RUN_LARGE;
    run->large_size = pages * HAK_PAGE_SIZE;
    is_used = is_populated = false;
    hak_populate_taken(run);
    return run;
}

/* A block that the program uses as a whole, or not at all, and keeps. True: it was populated. */
static bool one(bool used) {
    hak_slab *run = taken(PAGES);
    is_used = used;
    hak_populate_given(run); /* looks for the last time; the run stays, so that none comes twice */
    return is_populated;
}

static size_t populated(size_t count, bool used) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += one(used);
    return sum;
}

static void none_of_blocks_that_are_not_used(void) {
    CHECK(populated(EACH, false) == 0);
    CHECK_THAT(questions <= EACH, "%zu questions for %d blocks", questions, EACH);
}

static void all_but_one_in_eight(void) {
    populated(EACH, true);
    size_t count = populated(EACH, true);
    CHECK_THAT(count == EACH - EACH / 8, "%zu of %d", count, EACH);
}

static void none_longer_than_what_was_seen(void) {
    CHECK(hak_populate_trusts(PAGES) && !hak_populate_trusts(LONG));
    hak_slab *run = taken(LONG);
    CHECK(!is_populated);
    hak_populate_given(run);
}

static void none_after_one_that_was_not_used(void) {
    populated(EACH, true);
    size_t count = populated(8, false);
    CHECK_THAT(count < 8, "%zu of 8", count);
    CHECK(populated(EACH, false) == 0 && !hak_populate_trusts(1));
}

/* What is resident already is not asked for twice, also by the next block that lies there; until
 * it is purged. */
static void not_what_is_there(void) {
    populated(EACH, true);
    hak_slab *run = taken(PAGES);
    hak_run_is_backed(run);
    hak_run_give(run, false);
    size_t before = questions;
    run = taken(PAGES);
    CHECK(run->backed && !is_populated && questions == before);
    hak_run_give(run, true);
    CHECK(!taken(PAGES)->backed);
}

int main(void) {
    none_of_blocks_that_are_not_used();
    all_but_one_in_eight();
    none_after_one_that_was_not_used();
    all_but_one_in_eight();
    none_longer_than_what_was_seen();
    not_what_is_there();
    return 0;
}
