#include "pages/populate.h"

#include "base/bits.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/segment.h"
#include "policy/policy.h"

enum {
    PROBES = 8, /* one in so many that could be populated is looked at instead */
    HOLES = 8,  /* up to 1/8 of what a block added may be holes */
    TRUST = 2,  /* blocks seen must be so many times as long as one that is populated */
    LOOKS = 4,  /* large requests until a block that is not used by then counts as used in part */
    LONGEST = 1024 /* requests between two looks: one more after each block that is used in part,
                    * twice as many after one that was resident already and tells nothing */
};

/* The block that is looked at. `start` is 0 when there is none; read without the lock. */
static _Atomic uintptr_t start;
static size_t bytes, resident_before, pages, requests;

static _Atomic size_t seen; /* pages of the blocks used as a whole since one was used in part */
static size_t turns;        /* requests that could be populated */
static size_t pause, wait;  /* requests between two looks; until the next one */
static hak_lock lock;       /* guards all of the above; never waited for */

static bool is_looking(void) {
    return atomic_load_explicit(&start, memory_order_relaxed) != 0;
}

bool hak_populate_trusts(size_t count) {
    return count <= atomic_load_explicit(&seen, memory_order_relaxed) / TRUST;
}

static void look_at(const hak_slab *run, size_t resident) {
    atomic_store_explicit(&start, run->start, memory_order_relaxed);
    bytes = run->large_size;
    pages = run->pages;
    resident_before = resident;
    requests = 0;
}

static void look_after(size_t requests_from_now) {
    wait = pause = requests_from_now < LONGEST ? requests_from_now : LONGEST;
}

static void end_look(bool whole) {
    atomic_store_explicit(&start, 0, memory_order_relaxed);
    atomic_store_explicit(&seen, whole ? seen + pages : 0, memory_order_relaxed);
    look_after(whole ? 0 : pause + 1);
}

static void look(bool last) {
    void *block = (void *)atomic_load_explicit(&start, memory_order_relaxed);
    size_t now = hak_os_resident(block, bytes), added = bytes - resident_before;
    bool whole = now >= bytes - added / HOLES;
    if (whole || last)
        end_look(whole);
}

/* A program may take some time to fill a block, and have more than one in the works. */
static void look_now_and_then(void) {
    requests++;
    if (hak_is_power_of_two(requests))
        look(requests == LOOKS);
}

/* True: memory stands behind the run already. */
static bool begin_look(const hak_slab *run) {
    size_t resident = hak_os_resident((void *)run->start, run->large_size);
    if (resident <= run->large_size / 2)
        look_at(run, resident);
    else
        look_after(pause * 2 + 1);
    return resident == run->large_size;
}

enum answer { LEAVE, POPULATE, IS_BACKED };

static enum answer ask(const hak_slab *run) {
    if (is_looking())
        look_now_and_then();
    if (hak_populate_trusts(run->pages) && ++turns % PROBES != 0)
        return POPULATE;
    if (wait > 0)
        wait--;
    else if (!is_looking() && begin_look(run))
        return IS_BACKED;
    return LEAVE;
}

void hak_populate_taken(hak_slab *run) {
    if (run->backed || hak_policy_now()->populate == 0 || !hak_lock_try(&lock))
        return;
    enum answer answer = ask(run);
    hak_lock_give(&lock);
    if (answer == IS_BACKED ||
        (answer == POPULATE && hak_os_populate((void *)run->start, run->large_size)))
        hak_run_is_backed(run);
}

void hak_populate_given(const hak_slab *run) {
    if (atomic_load_explicit(&start, memory_order_relaxed) != run->start || !hak_lock_try(&lock))
        return;
    if (atomic_load_explicit(&start, memory_order_relaxed) == run->start)
        look(true);
    hak_lock_give(&lock);
}

void hak_populate_after_fork_in_child(void) {
    hak_lock_reset(&lock);
}
