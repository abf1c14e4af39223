#include "pages/spare.h"

#include "base/geometry.h"
#include "os/os.h"
#include "pages/epoch.h"
#include "pages/excess.h"
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
    bool leaving;   /* a thread gives its memory to the system: nobody else takes it */
    uint64_t since; /* how many came before it */
} spare;

/* Under the segment lock. A place whose run is NULL is empty. So each run comes and goes by one
 * write, and a forked child finds it in its place or not, whatever another thread was at. */
static spare spares[MOST_SPARES];
static spare *const end = spares + MOST_SPARES;

static bool fits(const spare *s, size_t pages, size_t align) {
    return s->run != NULL && !s->leaving && s->run->pages >= pages &&
           s->run->pages <= TIMES * pages && (s->run->start & (align * HAK_PAGE_SIZE - 1)) == 0;
}

static spare *shortest_that_fits(size_t pages, size_t align) {
    spare *best = NULL;
    for (spare *s = spares; s < end; s++)
        if (fits(s, pages, align) && (best == NULL || s->run->pages < best->run->pages))
            best = s;
    return best;
}

hak_slab *hak_spare_take(size_t pages, size_t align, bool *zeroed) {
    hak_slab *run = NULL;
    hak_lock_take(&hak_segment_lock);
    spare *s = shortest_that_fits(pages, align);
    if (s != NULL) {
        run = s->run;
        *zeroed = s->zeroed;
        s->run = NULL;
    }
    hak_lock_give(&hak_segment_lock);
    return run;
}

/* Gives the memory of the run to the system, and lends the lock meanwhile. */
static void clear(spare *s) {
    const hak_slab *run = s->run;
    if (s->zeroed)
        return;
    s->leaving = true;
    hak_lock_lend(&hak_segment_lock);
    bool done = hak_policy_may_purge_now() &&
                hak_os_purge((void *)run->start, (size_t)run->pages << HAK_PAGE_SHIFT);
    hak_lock_take_back(&hak_segment_lock);
    s->zeroed = done;
    s->leaving = false;
}

static void leave(spare *s) {
    hak_slab *run = s->run;
    s->run = NULL;
    hak_run_give_locked(run, s->zeroed, false);
}

static void clear_and_leave(spare *s) {
    clear(s);
    leave(s);
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

/* An empty place, else that of the oldest. NULL: all are leaving. */
static spare *place_for_another(void) {
    spare *best = NULL;
    for (spare *s = spares; s < end; s++) {
        if (s->run == NULL)
            return s;
        if (!s->leaving && (best == NULL || s->since < best->since))
            best = s;
    }
    return best;
}

static void put_in(spare *s, hak_slab *run, bool zeroed) {
    static uint64_t came;
    run->kind = HAK_RUN_FREE;
    s->zeroed = zeroed;
    s->since = came++;
    s->run = run;
}

static void keep(hak_slab *run, bool zeroed) {
    hak_lock_take(&hak_segment_lock);
    spare *s = place_for_another();
    if (s == NULL) {
        hak_run_give_locked(run, zeroed, false);
    } else {
        if (s->run != NULL)
            clear_and_leave(s);
        put_in(s, run, zeroed);
        if (is_limited())
            clear_and_leave(s);
    }
    hak_lock_give(&hak_segment_lock);
}

/* ---- what they hold ---- */

static _Atomic uint64_t empty_at; /* the count of page faults when they last held nothing */

uint64_t hak_spare_faults(void) {
    return atomic_load_explicit(&empty_at, memory_order_relaxed);
}

static void note_empty(uint64_t faults) {
    atomic_store_explicit(&empty_at, faults, memory_order_relaxed);
}

void hak_spare_give(hak_slab *run, bool zeroed, uint64_t faults) {
    keep(run, zeroed);
    if ((int64_t)(faults - hak_spare_faults()) < 0)
        note_empty(faults);
    hak_purge_expect();
    if (hak_policy_purges() &&
        hak_excess_bytes_since(hak_spare_faults()) > hak_policy_now()->huge_keep_kib * 1024)
        hak_spare_purge();
}

/* Runs whose memory the system does not take at once leave, too. */
static bool clear_all(bool all_leave) {
    bool any = false;
    note_empty(hak_excess_faults());
    hak_lock_take(&hak_segment_lock);
    for (spare *s = spares; s < end; s++)
        if (s->run != NULL && !s->leaving) {
            any = true;
            clear(s);
            if (all_leave || !s->zeroed)
                leave(s);
        }
    hak_lock_give(&hak_segment_lock);
    return any;
}

void hak_spare_purge(void) {
    clear_all(false);
}

bool hak_spare_release(void) {
    return clear_all(true);
}

size_t hak_spare_pages(void) {
    size_t pages = 0;
    for (const spare *s = spares; s < end; s++) {
        const hak_slab *run = s->run;
        pages += run != NULL ? run->pages : 0;
    }
    return pages;
}

void hak_spare_after_fork_in_child(void) {
    for (spare *s = spares; hak_locks_held == 0 && s < end; s++)
        s->zeroed = s->leaving = false;
}
