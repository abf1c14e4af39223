#include "pages/apart.h"

#include "base/bits.h"
#include "os/os.h"
#include "pages/apart_table.h"
#include "pages/press.h"
#include "policy/policy.h"

enum { MOST_MOVED = 8192 }; /* by default the system allows 65,530 mappings */

/* ---- what may be had ---- */

static void *noted(void *block, size_t size) {
    if (block != NULL) {
        hak_apart_note(block, size);
    } else {
        hak_apart_expect_one_less();
        hak_quota_give_apart(size);
    }
    return block;
}

/* Whether a block may grow so. Of a new one, `from` is 0. */
static bool is_granted(size_t from, size_t to) {
    if (to > from)
        hak_press_for((to - from) >> HAK_PAGE_SHIFT);
    return hak_quota_resize_apart(from, to);
}

/* An entry, and the bytes. */
static bool expect(size_t size) {
    if (!is_granted(0, size))
        return false;
    bool expected = hak_apart_expect_one();
    if (!expected)
        hak_quota_give_apart(size);
    return expected;
}

/* ---- the interface ---- */

bool hak_apart_wants(size_t size, size_t align) {
    return !HAK_GUARD && size + align >= (size_t)1 << HAK_APART_BITS;
}

static size_t whole_pages(size_t size) {
    return hak_round_up(size, hak_os_page_size());
}

/* Whether so large a block is dense cannot be told from others: it is left as the system is set. */
static void *mapped(size_t size, size_t align) {
    void *block = hak_os_map(size, align);
    enum hak_huge_pages mode = (enum hak_huge_pages)hak_policy_now()->huge_pages;
    if (block != NULL)
        hak_os_huge_pages(block, size, mode == HAK_HUGE_DENSE ? HAK_HUGE_SYSTEM : mode);
    return block;
}

void *hak_apart_take(size_t size, size_t align) {
    size = whole_pages(size);
    return expect(size) ? noted(mapped(size, align), size) : NULL;
}

bool hak_apart_give(void *block) {
    size_t size = hak_apart_forget(block);
    if (size == 0)
        return false;
    hak_os_unmap(block, size);
    hak_apart_expect_one_less();
    hak_quota_give_apart(size);
    return true;
}

/* A block that grows will grow again: it gets a quarter more address space, if there is so much. */
static size_t generous(size_t size) {
    return whole_pages(size + size / HAK_SLACK_SHARE);
}

/* Its old place may be somebody else's as soon as it has moved: it is not noted meanwhile. Until it
 * is shorter it counts as it was: the system may refuse that, and others may have taken the rest.
 */
static void *remap(void *block, size_t before, size_t size) {
    size_t most = size > before ? size : before;
    if (!is_granted(before, most))
        return NULL;
    bool was_there = hak_apart_forget(block) != 0;
    void *moved = was_there ? hak_os_remap(block, before, size) : NULL;
    if (was_there)
        hak_apart_note(moved != NULL ? moved : block, moved != NULL ? size : before);
    hak_quota_resize_apart(most, moved != NULL ? size : before); /* no more: never refused */
    return moved;
}

void *hak_apart_resize(void *block, size_t size) {
    size_t before = hak_apart_size(block);
    if (size <= before && size >= before - before / HAK_SLACK_SHARE)
        return block;
    void *moved = size > before ? remap(block, before, generous(size)) : NULL;
    return moved != NULL ? moved : remap(block, before, whole_pages(size));
}

static void *move_out(const hak_slab *run, size_t size) {
    size_t length = (size_t)run->pages << HAK_PAGE_SHIFT;
    return expect(size) ? noted(hak_os_move_out((void *)run->start, length, size), size) : NULL;
}

/* Those that became too long for a range may use up the mappings that the system allows. */
void *hak_apart_take_over(const hak_slab *run, size_t size) {
    bool is_one_of_few = hak_apart_expected() < MOST_MOVED;
    if (HAK_GUARD || !is_one_of_few)
        return NULL;
    void *block = move_out(run, generous(size));
    return block != NULL ? block : move_out(run, whole_pages(size));
}
