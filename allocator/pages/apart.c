#include "pages/apart.h"

#include "base/bits.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/apart_table.h"
#include "pages/dirty.h"
#include "pages/quota.h"
#include "policy/policy.h"

enum { MOST_MOVED = 8192 }; /* by default the system allows 65,530 mappings */

/* ---- what may be had ---- */

/* Whether a block may grow so. Of a new one, `from` is 0. */
static bool is_granted(size_t from, size_t to) {
    if (to > from)
        hak_dirty_make_room_for((to - from) >> HAK_PAGE_SHIFT);
    return hak_quota_resize_apart(from, to);
}

/* An entry for a new block. */
static hak_apart_entry *claim_for(size_t size) {
    if (!is_granted(0, size))
        return NULL;
    hak_apart_entry *e = hak_apart_claim();
    if (e == NULL)
        hak_quota_resize_apart(size, 0);
    return e;
}

/* Notes the new block; NULL: the system refused it. */
static void *begin(hak_apart_entry *e, void *block, size_t size) {
    if (block == NULL)
        hak_quota_resize_apart(size, 0);
    return hak_apart_note(e, block, block != NULL ? size : 0);
}

static size_t whole_pages(size_t size) {
    return hak_round_up(size, hak_os_page_size());
}

/* A block that grows will grow again: it gets a quarter more address space, if there is so much. */
static size_t generous(size_t size) {
    return whole_pages(size + size / HAK_SLACK_SHARE);
}

/* No other block tells whether so large a one will be dense: the system's own setting holds for
 * it. */
static void *mapped(size_t size, size_t align) {
    void *block = hak_os_map(size, align);
    enum hak_huge_pages mode = (enum hak_huge_pages)hak_policy_now()->huge_pages;
    if (block != NULL)
        hak_os_huge_pages(block, size, mode == HAK_HUGE_DENSE ? HAK_HUGE_SYSTEM : mode);
    return block;
}

/* ---- the interface: a handler of signals that forks within it finds that locks are held ---- */

bool hak_apart_wants(size_t size, size_t align) {
    return !HAK_GUARD && size + align >= (size_t)1 << HAK_APART_BITS;
}

void *hak_apart_take(size_t size, size_t align) {
    size = whole_pages(size);
    hak_lock_enter();
    hak_apart_entry *e = claim_for(size);
    void *block = e != NULL ? begin(e, mapped(size, align), size) : NULL;
    hak_lock_leave();
    return block;
}

size_t hak_apart_size(const void *block) {
    const hak_apart_entry *e = hak_apart_find(block);
    return e != NULL ? hak_apart_bytes(e) : 0;
}

bool hak_apart_give(void *block) {
    hak_apart_entry *e = hak_apart_find(block);
    size_t size = e != NULL ? hak_apart_bytes(e) : 0;
    hak_lock_enter();
    bool was_there =
        e != NULL && hak_apart_exchange(e, (uintptr_t)block, (uintptr_t)block | HAK_APART_GONE);
    if (was_there) {
        hak_os_unmap(block, size);
        hak_quota_resize_apart(size, 0);
    }
    hak_lock_leave();
    return was_there;
}

/* While a block moves it is not noted: its old place may soon be somebody else's. One that shrinks
 * counts in full until it has shrunk, as the system may refuse that when others have taken the
 * rest. */
static void *remap(hak_apart_entry *e, void *block, size_t size) {
    size_t before = hak_apart_bytes(e), most = size > before ? size : before;
    if (!is_granted(before, most))
        return NULL;
    bool was_there = hak_apart_exchange(e, (uintptr_t)block, HAK_APART_BUSY);
    void *moved = was_there ? hak_os_remap(block, before, size) : NULL;
    if (was_there)
        hak_apart_note(e, moved != NULL ? moved : block, moved != NULL ? size : before);
    hak_quota_resize_apart(most, moved != NULL ? size : before); /* no more: never refused */
    return moved;
}

void *hak_apart_resize(void *block, size_t size) {
    hak_apart_entry *e = hak_apart_find(block);
    size_t before = e != NULL ? hak_apart_bytes(e) : 0;
    if (e == NULL || (size <= before && size >= before - before / HAK_SLACK_SHARE))
        return e != NULL ? block : NULL;
    hak_lock_enter();
    void *moved = size > before ? remap(e, block, generous(size)) : NULL;
    if (moved == NULL)
        moved = remap(e, block, whole_pages(size));
    hak_lock_leave();
    return moved;
}

static void *move_out(const hak_slab *run, size_t size) {
    size_t length = (size_t)run->pages << HAK_PAGE_SHIFT;
    hak_apart_entry *e = claim_for(size);
    return e != NULL ? begin(e, hak_os_move_out((void *)run->start, length, size), size) : NULL;
}

/* Blocks that became too long for a range may use up the mappings that the system allows. */
void *hak_apart_take_over(const hak_slab *run, size_t size) {
    size_t bytes;
    if (HAK_GUARD || hak_apart_count(&bytes) >= MOST_MOVED)
        return NULL;
    hak_lock_enter();
    void *block = move_out(run, generous(size));
    if (block == NULL)
        block = move_out(run, whole_pages(size));
    hak_lock_leave();
    return block;
}

/* ---- all of them ---- */

enum hak_apart_place hak_apart_place_of(const void *p) {
    enum hak_apart_place place = HAK_APART_NOWHERE;
    HAK_EACH_APART(e) {
        uintptr_t start = hak_apart_start(e);
        if (start == HAK_APART_BUSY ||
            (uintptr_t)p - (start & ~HAK_APART_GONE) >= hak_apart_bytes(e))
            continue;
        if (hak_apart_is_live(start))
            return HAK_APART_INSIDE;
        place = HAK_APART_FREED;
    }
    return place;
}

void hak_apart_each(void (*visit)(const void *block, size_t size)) {
    HAK_EACH_APART(e) {
        uintptr_t start = hak_apart_start(e);
        if (hak_apart_is_live(start))
            visit((const void *)start, hak_apart_bytes(e));
    }
}

size_t hak_apart_count(size_t *bytes) {
    size_t count = 0;
    *bytes = 0;
    HAK_EACH_APART(e) {
        bool live = hak_apart_is_live(hak_apart_start(e));
        *bytes += live ? hak_apart_bytes(e) : 0;
        count += live;
    }
    return count;
}

void hak_apart_after_fork_in_child(void) {
    size_t bytes;
    hak_apart_count(&bytes);
    if (hak_locks_held == 0)
        hak_quota_set_apart(bytes);
}
