#include "pages/dense.h"

#include "os/os.h"
#include "pages/excess.h"
#include "pages/quota.h"
#include "pages/range.h"
#include "pages/segment.h"
#include "policy/policy.h"

enum {
    GROUP = 8,           /* segments to a probe at first: 16 MiB */
    BEHIND = 2,          /* segments to the nearest probe, which has had time to fill up */
    HOLES = 8,           /* up to 1/8 of a dense segment may be holes */
    SHARE = 8,           /* a full huge block behind another one is the probe for so many times
                          * its length, the first one for a quarter of that */
    MOST_BORDERS = 16384 /* between small and huge pages; each is one of the 65,530 mappings that
                          * the system allows by default */
};

static long borders; /* roughly: a forked child may find it two off */

static bool is_huge(const hak_range *r, size_t index) {
    return r->segments[index].huge;
}

static bool is_huge_neighbour(const hak_range *r, size_t index) {
    return index < r->segments_fresh && is_huge(r, index);
}

static void note(hak_range *r, size_t index, bool huge) {
    int below = is_huge_neighbour(r, index - 1) == huge;
    int above = is_huge_neighbour(r, index + 1) == huge;
    borders += 2 - 2 * (below + above);
    r->segments[index].huge = huge;
}

static char *start_of(const hak_range *r, size_t index) {
    return (char *)r->base + index * HAK_SEGMENT_SIZE;
}

/* How many segments share a probe around segment `index`. The more memory lies below it, the
 * smaller is the share of all that one wrong decision costs, and the fewer probes are needed. */
static size_t group_at(size_t index) {
    size_t group = GROUP;
    for (size_t end = (size_t)2 * GROUP; index >= end; end *= 4)
        group *= 2;
    return group;
}

/* The nearest probe that lies far enough below. */
static size_t probe_for(size_t index) {
    size_t near = index - BEHIND;
    return near - (near + 1) % group_at(near);
}

static bool is_probe(size_t index) {
    return (index + 1) % group_at(index) == 0;
}

static bool is_dense(const hak_range *r, size_t index) {
    size_t resident = hak_os_resident(start_of(r, index), HAK_SEGMENT_SIZE);
    return resident >= HAK_SEGMENT_SIZE - HAK_SEGMENT_SIZE / HOLES;
}

static bool is_untouched(const hak_range *r, size_t index) {
    return !is_huge(r, index) && r->segments[index].touched == 0;
}

static bool deserves(const hak_range *r, size_t index) {
    return is_untouched(r, index) && !is_probe(index) && index >= BEHIND + GROUP - 1 &&
           borders < MOST_BORDERS && is_dense(r, probe_for(index));
}

/* ---- huge blocks ---- */

/* The huge block that got small pages last: it is the probe for the next ones. If it is full, they
 * get huge pages, up to a multiple of its length. That is smaller for the first full block than for
 * one behind another: a program may fill one table, and then take many blocks that it hardly uses.
 */
static struct {
    hak_range *range; /* NULL: none yet */
    size_t middle;    /* a segment */
    size_t left;      /* pages that may still get huge ones */
} probe;

static void advise_untouched(hak_range *r, size_t from, size_t to) {
    for (size_t i = from, start; i < to; i++) {
        for (start = i; i < to && is_untouched(r, i); i++)
            note(r, i, true);
        if (i > start)
            hak_os_huge_pages(start_of(r, start), (i - start) * HAK_SEGMENT_SIZE, HAK_HUGE_ALWAYS);
    }
}

/* A program that fills one huge block fills the next one, too. Only segments that lie wholly in the
 * block are advised: other blocks may have parts of those at its ends. */
static void choose_for_huge_block(hak_range *r, size_t first, size_t count) {
    size_t from = hak_round_up(first, HAK_PAGES_PER_SEGMENT) / HAK_PAGES_PER_SEGMENT;
    size_t to = (first + count) / HAK_PAGES_PER_SEGMENT, middle = from + (to - from) / 2;
    if (from >= to || !is_untouched(r, middle))
        return;
    bool dense = probe.range != NULL && is_dense(probe.range, probe.middle);
    if (dense && probe.left >= count && borders < MOST_BORDERS) {
        probe.left -= count;
        advise_untouched(r, from, to);
    } else {
        probe.range = r;
        probe.middle = middle;
        probe.left = (dense ? SHARE : SHARE / 4) * count;
    }
}

/* ---- runs ---- */

void hak_dense_choose(hak_range *r, size_t first, size_t count, size_t pages) {
    if (hak_policy_now()->huge_pages != HAK_HUGE_DENSE || hak_quota_is_near(pages))
        return;
    if (pages >= HAK_HUGE_PAGES) {
        choose_for_huge_block(r, first, count);
        return;
    }
    HAK_EACH_SEGMENT(i, first, count)
        if (deserves(r, i)) {
            hak_os_huge_pages(start_of(r, i), HAK_SEGMENT_SIZE, HAK_HUGE_ALWAYS);
            note(r, i, true);
        }
}

void hak_dense_leave(hak_range *r, size_t first, size_t count) {
    HAK_EACH_SEGMENT(i, first, count)
        if (is_huge(r, i)) {
            note(r, i, false);
            hak_os_huge_pages(start_of(r, i), HAK_SEGMENT_SIZE, HAK_HUGE_NEVER);
            hak_pages_touch(&r->segments[i]);
        }
}

bool hak_dense_holds(const hak_slab *run) {
    const hak_range *r = hak_range_of((void *)run->start);
    HAK_EACH_SEGMENT(i, (size_t)(run - r->slabs), run->pages)
        if (is_huge(r, i))
            return true;
    return false;
}

bool hak_dense_leave_run(const hak_slab *run) {
    hak_range *r = hak_range_of((void *)run->start);
    if (!hak_dense_holds(run))
        return false;
    hak_lock_take(&hak_segment_lock);
    hak_dense_leave(r, (size_t)(run - r->slabs), run->pages);
    hak_lock_give(&hak_segment_lock);
    return true;
}
