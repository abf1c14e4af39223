/* Ranges: a range grows in the addresses that were planned for it, up to where somebody else has
 * mapped something; then the next one takes over. Where no plan can be had it lies in a
 * reservation. Between its tables, and before its pages, something always is unmapped. Plans are
 * made at random, but no address is in two of them. */
#include "pages/range.h"

#include "base/bits.h"
#include "front/usage.h"
#include "os/os.h"
#include "pages/run.h"
#include "pages/segment.h"
#include "pages/tables.h"
#include "policy/policy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { PAGES = 100, MOST_RUNS = 10000, RESERVED_KIB = 1 << 20, LIMIT_KIB = 2 << 20 };
enum { LONG_RUNS = 40, LONG_RUN = (1 << 30 >> HAK_PAGE_SHIFT) - 1, FEW_KIB = 100 };
enum { FURTHER_SEGMENTS = 512, OTHER_HOME = HAK_FIRST_HOME + 1 };

static uintptr_t led_to; /* the next plan of pages begins here; 0: where it likes */

void *__real_hak_os_plan(enum hak_zone zone, size_t size, size_t align);
void *__wrap_hak_os_plan(enum hak_zone zone, size_t size, size_t align);
void *__wrap_hak_os_plan(enum hak_zone zone, size_t size, size_t align) {
    uintptr_t start = zone == HAK_ZONE_OF_PAGES ? led_to : 0;
    led_to = 0;
    return start != 0 ? (void *)start : __real_hak_os_plan(zone, size, align);
}

static hak_slab *take(size_t pages) {
    bool zeroed = false;
    hak_slab *run = hak_run_take(HAK_HOME_OF_SLABS, pages, 1, &zeroed);
    CHECK_THAT(run && zeroed && run->pages == pages, "%zu pages", pages);
    run->kind = HAK_RUN_LARGE;
    memset((void *)run->start, 1, pages << HAK_PAGE_SHIFT);
    return run;
}

static bool is_unmapped(uintptr_t page) {
    unsigned char present;
    return mincore((void *)page, hak_os_page_size(), &present) != 0 && errno == ENOMEM;
}

static bool is_closed(uintptr_t page) {
    return hak_ranges[0].is_reserved || is_unmapped(page);
}

static void nothing_lies_behind_a_table(void) {
    const hak_range *r = &hak_ranges[0];
    for (enum hak_table table = 0; table < HAK_TABLES; table++) {
        uintptr_t end = r->tables[table].mapped;
        uintptr_t next = table + 1 < HAK_TABLES ? r->tables[table + 1].start : r->base;
        CHECK_THAT(next - end >= hak_os_page_size() && is_closed(end), "table %d", (int)table);
    }
    CHECK(is_closed(r->base - hak_os_page_size()));
}

static void it_ends_where_something_lies(void) {
    const hak_range *r = &hak_ranges[0];
    uintptr_t stranger = r->mapped + (size_t)8 * HAK_SEGMENT_SIZE;
    CHECK(mmap((void *)stranger, HAK_SEGMENT_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
          (void *)stranger);
    int runs = 0;
    while (hak_range_count() == 1 && runs++ < MOST_RUNS)
        take(PAGES);
    CHECK_THAT(hak_range_count() == 2, "%d runs, and no further range", runs);
    CHECK(r->mapped <= stranger);
    CHECK(*(volatile char *)stranger == 0);
    hak_slab *run = take(PAGES);
    CHECK(hak_range_of((void *)run->start) == &hak_ranges[1]);
}

static size_t segments_with_tables(void) {
    return hak_ranges[0].limit / HAK_PAGES_PER_SEGMENT;
}

/* The pages of a further range would begin at this segment of the first one. */
static void another_lies_elsewhere(size_t segment) {
    const hak_range *first = &hak_ranges[0];
    bool zeroed;
    led_to = first->base + segment * HAK_SEGMENT_SIZE - hak_tables_size(FURTHER_SEGMENTS);
    const hak_slab *run = hak_run_take(OTHER_HOME, PAGES, 1, &zeroed);
    CHECK(run && led_to == 0);
    const hak_range *other = hak_range_of((void *)run->start);
    CHECK(other != first);
    for (int i = 0; i < MOST_RUNS && first->limit / HAK_PAGES_PER_SEGMENT <= segment; i++)
        CHECK(hak_run_take(HAK_HOME_OF_SLABS, PAGES, 1, &zeroed));
    CHECK_THAT(hak_range_of((void *)run->start) == other,
               "what lies at segment %zu belongs to another range, too", segment);
}

/* Tables are made for many segments at once, long before the pages are mapped. */
static void another_within_its_tables(void) {
    take(PAGES);
    another_lies_elsewhere(segments_with_tables() / 2);
}

static void another_where_it_will_grow(void) {
    take(PAGES);
    another_lies_elsewhere(segments_with_tables() * 5 / 2);
}

static void another_behind_its_end(void) {
    take(PAGES);
    it_ends_where_something_lies();
    another_lies_elsewhere(segments_with_tables() / 2);
}

static void use_a_plan(void) {
    take(PAGES);
    CHECK(hak_ranges[0].is_reserved == false);
    CHECK_THAT(status_kib("VmSize:") < RESERVED_KIB, "%zu KiB", status_kib("VmSize:"));
    nothing_lies_behind_a_table();
    it_ends_where_something_lies();
    CHECK(hak_usage_is_valid());
}

/* Larger than any plan. */
static void use_a_reservation(void) {
    static char reserve[] = "HAKMEM_RESERVE=67108864";
    hak_policy_read((char *const[]){reserve, NULL});
    for (int i = 0; i < PAGES; i++)
        take(PAGES);
    CHECK(hak_ranges[0].is_reserved && hak_range_count() == 1);
    nothing_lies_behind_a_table();
    CHECK(hak_usage_is_valid());
}

/* One range, where malloc and free look first, has all that a limit (ulimit -v) leaves. */
static void use_a_limit(void) {
    struct rlimit limit = {(rlim_t)LIMIT_KIB * 1024, (rlim_t)LIMIT_KIB * 1024};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    bool zeroed;
    size_t pages = 0;
    while (hak_run_take(HAK_HOME_OF_SLABS, PAGES, 1, &zeroed))
        pages += PAGES;
    size_t kib = pages * (HAK_PAGE_SIZE / 1024);
    CHECK_THAT(kib > LIMIT_KIB / 4 * 3, "%zu KiB of %d", kib, LIMIT_KIB);
    CHECK(hak_range_count() == 1);
}

/* As long as all before it together: so a few have room for all addresses that there are. */
static void further_ones_become_longer(void) {
    static char reserve[] = "HAKMEM_RESERVE=16";
    hak_policy_read((char *const[]){reserve, NULL});
    bool zeroed;
    for (int i = 0; i < LONG_RUNS; i++)
        CHECK(hak_run_take(HAK_HOME_OF_SLABS, LONG_RUN, 1, &zeroed));
    CHECK_THAT(hak_range_count() <= LONG_RUNS / 4, "%zu ranges", hak_range_count());
    CHECK(hak_usage_is_valid());
}

/* Where there is memory for the first tables alone. */
static void refusal_leaves_nothing_behind(void) {
    struct rlimit limit = {(status_kib("VmSize:") + FEW_KIB) * 1024, RLIM_INFINITY};
    bool zeroed;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    size_t before = status_kib("VmSize:");
    for (int i = 0; i < 3; i++)
        CHECK(!hak_run_take(HAK_HOME_OF_SLABS, PAGES, 1, &zeroed));
    CHECK_THAT(status_kib("VmSize:") == before, "%zu -> %zu KiB", before, status_kib("VmSize:"));
}

static void in_a_child(void (*test)(void)) {
    pid_t child = fork();
    if (child == 0) {
        test();
        _exit(0);
    }
    child_must_succeed(child);
}

/* Programs write the first bytes of their blocks, and many blocks begin on a page: what free reads
 * must not have the same place in its page. */
static void far_from_first_bytes(void) {
    CHECK(((uintptr_t)&hak_ranges[0].base & 4095) >= 192);
    CHECK((uintptr_t)&hak_ranges[0].base / 64 == (uintptr_t)&hak_ranges[0].segments / 64);
}

int main(void) {
    far_from_first_bytes();
    in_a_child(use_a_reservation);
    in_a_child(use_a_limit);
    in_a_child(further_ones_become_longer);
    in_a_child(refusal_leaves_nothing_behind);
    in_a_child(another_within_its_tables);
    in_a_child(another_where_it_will_grow);
    in_a_child(another_behind_its_end);
    use_a_plan();
    return 0;
}
