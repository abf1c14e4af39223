#include "pages/spare.h"

#include "base/geometry.h"
#include "os/os.h"
#include "pages/excess.h"
#include "pages/note.h"
#include "pages/range.h"
#include "pages/run.h"
#include "pages/segment.h"
#include "policy/policy.h"

enum {
    MOST_SPARES = 16, /* runs */
    TIMES = 4,        /* as long as what is asked for */
};

typedef struct spare {
    hak_slab *run;  /* NULL: none */
    bool zeroed;    /* all of it reads as zero */
    uint64_t since; /* how many came before it */
} spare;

/* Under the segment lock. A place whose run is NULL is empty. So each run comes and goes by one
 * write, and a forked child finds it in its place or not, whatever another thread was at. */
static spare spares[MOST_SPARES];
static const spare none;

static spare take_spare_out(size_t at) {
    spare s = spares[at];
    spares[at].run = NULL;
    return s;
}

static void put_in(size_t at, spare s) {
    static uint64_t came;
    spares[at].zeroed = s.zeroed;
    spares[at].since = came++;
    spares[at].run = s.run;
}

static bool fits(const hak_slab *run, size_t pages, size_t align) {
    return run != NULL && run->pages >= pages && run->pages <= TIMES * pages &&
           (run->start & (align * HAK_PAGE_SIZE - 1)) == 0;
}

/* The shortest that fits. */
static spare find_spare(size_t pages, size_t align) {
    size_t best = MOST_SPARES;
    for (size_t i = 0; i < MOST_SPARES; i++)
        if (fits(spares[i].run, pages, align) &&
            (best == MOST_SPARES || spares[i].run->pages < spares[best].run->pages))
            best = i;
    return best != MOST_SPARES ? take_spare_out(best) : none;
}

hak_slab *hak_spare_take(size_t pages, size_t align, bool *zeroed) {
    hak_lock_take(&hak_segment_lock);
    spare s = find_spare(pages, align);
    hak_lock_give(&hak_segment_lock);
    *zeroed = s.zeroed;
    return s.run;
}

/* Spare runs lie in the way of other blocks, and where memory or addresses are limited, that room
 * is needed. Asked once. */
static bool is_limited(void) {
    static bool asked, limited;
    if (!asked)
        limited = hak_os_is_private_limited() || hak_os_address_space_limit() != SIZE_MAX;
    asked = true;
    return limited;
}

/* An empty place, else that of the oldest. */
static size_t place_for_another(void) {
    size_t best = 0;
    for (size_t i = 0; i < MOST_SPARES && spares[best].run != NULL; i++)
        if (spares[i].run == NULL || spares[i].since < spares[best].since)
            best = i;
    return best;
}

/* Returns what has to go: the oldest when there are too many. */
static spare keep(spare s) {
    hak_lock_take(&hak_segment_lock);
    spare gone = s;
    if (!is_limited()) {
        s.run->kind = HAK_RUN_FREE;
        size_t at = place_for_another();
        gone = take_spare_out(at);
        put_in(at, s);
    }
    hak_lock_give(&hak_segment_lock);
    return gone;
}

/* While the system takes the memory away a run is nobody's. A child that is forked just before or
 * after that loses the addresses of the run. */
static bool clear(const hak_slab *run) {
    const hak_range *r = hak_range_of((void *)run->start);
    size_t note = hak_note_pages(r, (size_t)(run - r->slabs), 0);
    bool done = hak_policy_may_purge_now() &&
                hak_os_purge((void *)run->start, (size_t)run->pages << HAK_PAGE_SHIFT);
    hak_note_forget(note);
    return done;
}

void hak_spare_give(hak_slab *run, bool zeroed) {
    spare s = keep((spare){.run = run, .zeroed = zeroed});
    if (s.run != NULL)
        hak_run_give(s.run, s.zeroed || clear(s.run));
}

static bool is_wanted(const spare *s, bool dirty) {
    return s->run != NULL && !(dirty && s->zeroed);
}

static spare pop(bool dirty) {
    hak_lock_take(&hak_segment_lock);
    size_t at = 0;
    while (at < MOST_SPARES && !is_wanted(&spares[at], dirty))
        at++;
    spare s = at < MOST_SPARES ? take_spare_out(at) : none;
    hak_lock_give(&hak_segment_lock);
    return s;
}

bool hak_spare_release(void) {
    bool any = false;
    hak_excess_spare_purged();
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
    for (size_t most = MOST_SPARES; most > 0; most--) { /* others may free meanwhile */
        spare s = pop(true);
        if (s.run == NULL)
            return;
        purge(s.run);
    }
}

size_t hak_spare_pages(void) {
    size_t pages = 0;
    for (size_t i = 0; i < MOST_SPARES; i++) {
        const hak_slab *run = spares[i].run;
        pages += run != NULL ? run->pages : 0;
    }
    return pages;
}

void hak_spare_mend(void) {
    for (size_t i = 0; i < MOST_SPARES; i++)
        spares[i].zeroed = false;
}
