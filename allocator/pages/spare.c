#include "pages/spare.h"

#include "base/geometry.h"
#include "os/os.h"
#include "pages/range.h"
#include "pages/segment.h"
#include "policy/policy.h"

#include <string.h>

enum {
    MOST = 16,            /* runs */
    TIMES = 4,            /* as long as what is asked for */
    SHARE_OF_RANGE = 1024 /* of its range: where address space is scarce nothing is spare */
};

typedef struct spare {
    hak_slab *run; /* NULL: none */
    bool zeroed;   /* all of it reads as zero */
} spare;

static const spare none;
static spare spares[MOST]; /* the oldest first; under the segment lock */
static size_t count;

static spare take_out(size_t at) {
    spare s = spares[at];
    count--;
    memmove(&spares[at], &spares[at + 1], (count - at) * sizeof spares[0]);
    return s;
}

static bool fits(const hak_slab *run, size_t pages, size_t align) {
    return run->pages >= pages && run->pages <= TIMES * pages &&
           (run->start & (align * HAK_PAGE_SIZE - 1)) == 0;
}

/* The shortest that fits. */
static spare find(size_t pages, size_t align) {
    size_t best = MOST;
    for (size_t i = 0; i < count; i++)
        if (fits(spares[i].run, pages, align) &&
            (best == MOST || spares[i].run->pages < spares[best].run->pages))
            best = i;
    return best != MOST ? take_out(best) : none;
}

hak_slab *hak_spare_take(size_t pages, size_t align, bool *zeroed) {
    hak_lock_take(&hak_segment_lock);
    spare s = find(pages, align);
    hak_lock_give(&hak_segment_lock);
    *zeroed = s.zeroed;
    return s.run;
}

static bool is_small_part(const hak_slab *run) {
    const hak_range *r = hak_range_of((void *)run->start);
    return run->pages <= r->segments_most * HAK_PAGES_PER_SEGMENT / SHARE_OF_RANGE;
}

/* What is spare lies in the way of others: under a limit that costs room. Asked once. */
static bool is_limited(void) {
    static bool asked, limited;
    if (!asked)
        limited = hak_os_is_limited();
    asked = true;
    return limited;
}

/* Returns what has to go: the oldest when there are too many. */
static spare keep(spare s) {
    hak_lock_take(&hak_segment_lock);
    spare gone = s;
    if (!is_limited()) {
        s.run->kind = HAK_RUN_FREE;
        gone = count == MOST ? take_out(0) : none;
        spares[count++] = s;
    }
    hak_lock_give(&hak_segment_lock);
    return gone;
}

/* While the system takes the memory away a run is nobody's. */
static bool clear(const hak_slab *run) {
    return hak_policy_may_purge_now() &&
           hak_os_purge((void *)run->start, (size_t)run->pages << HAK_PAGE_SHIFT);
}

void hak_spare_give(hak_slab *run, bool zeroed) {
    spare s = {run, zeroed};
    if (is_small_part(run))
        s = keep(s);
    if (s.run != NULL)
        hak_run_give(s.run, s.zeroed || clear(s.run));
}

/* ---- giving them back ---- */

static spare pop(bool dirty) {
    hak_lock_take(&hak_segment_lock);
    size_t at = 0;
    while (dirty && at < count && spares[at].zeroed)
        at++;
    spare s = at < count ? take_out(at) : none;
    hak_lock_give(&hak_segment_lock);
    return s;
}

bool hak_spare_release(void) {
    bool any = false;
    for (spare s = pop(false); s.run != NULL; s = pop(false)) {
        hak_run_give(s.run, s.zeroed || clear(s.run));
        any = true;
    }
    return any;
}

static void purge(hak_slab *run) {
    if (clear(run))
        hak_spare_give(run, true);
    else
        hak_run_give(run, false);
}

void hak_spare_purge(void) {
    for (size_t most = MOST; most > 0; most--) { /* others may free meanwhile */
        spare s = pop(true);
        if (s.run == NULL)
            return;
        purge(s.run);
    }
}
