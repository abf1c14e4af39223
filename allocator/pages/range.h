/* Ranges: stretches of address space with flat tables beside them, so that the page of a
 * pointer is found by arithmetic and a foreign pointer by one compare. */
#pragma once

#include "base/types.h"

enum { HAK_MAX_RANGES = 256 };

/* hak_ranges[0] is the large first one; malloc and free look at no other on the hot path.
 * Before the first allocation its limit is 0, so every pointer is foreign.
 *
 *   a page:          | growth, tables, rooms ... | base, limit, classes, slabs ... |
 *   a block of 4 KiB | what a program writes first ...
 *
 * It begins on a page, so that what free reads does not lie at a page's first bytes. Many blocks
 * begin there, and programs write their first bytes. A processor takes a load for one of what was
 * just stored if their addresses have the same lowest twelve bits, and does it again:
 * docs/experiments/hot-path/first-bytes-of-a-page.toml. */
extern HAK_HIDDEN _Alignas(4096) hak_range hak_ranges[HAK_MAX_RANGES];

/* Index of p's page in range r; not below r->limit when p is not in r. */
HAK_INLINE size_t hak_page_index(const hak_range *r, const void *p) {
    return ((uintptr_t)p - r->base) >> HAK_PAGE_SHIFT;
}

/* The size class of the slab that p lies in, HAK_CLASS_NONE when p lies in none of range r. */
HAK_INLINE unsigned hak_class_in(const hak_range *r, const void *p) {
    size_t page = hak_page_index(r, p);
    if (HAK_UNLIKELY(page >= HAK_READ_GROWING(r->limit)))
        return HAK_CLASS_NONE;
    return r->classes[page];
}

/* The same over all ranges. */
unsigned hak_class_elsewhere(const void *p);
HAK_INLINE unsigned hak_class_of(const void *p) {
    unsigned cls = hak_class_in(&hak_ranges[0], p);
    return HAK_LIKELY(cls != HAK_CLASS_NONE) ? cls : hak_class_elsewhere(p);
}

/* What free asks of the first range before it takes its usual way. False: its usual way is not for
 * `p`, which lies elsewhere. In hardened builds one compare finds such pointers and those that are
 * no multiple of a grain. While an option asks for something at each free, the pass is closed: then
 * the same compare leads each to the slow path. */
HAK_INLINE bool hak_class_at_free(const void *p, unsigned *cls) {
    const hak_range *r = &hak_ranges[0];
    size_t page = hak_page_index(r, p);
    bool passes = page < HAK_READ_GROWING(r->limit);
    if (HAK_HARDENED) {
        size_t grain = hak_grain(p) - r->pass->first;
        passes = grain < HAK_READ_GROWING(r->pass->grains);
        page = grain >> (HAK_PAGE_SHIFT - HAK_GRAIN_SHIFT);
    }
    if (HAK_UNLIKELY(!passes))
        return false;
    *cls = r->classes[page];
    return true;
}

/* For good (pages/mark.c). Otherwise it widens as the tables grow. */
void hak_pass_close(void);

/* The range p lies in, NULL when p is foreign. Lock-free. */
hak_range *hak_range_of(const void *p);

/* The owner word of a slab's pages: base/page_types.h. */
HAK_INLINE uintptr_t hak_owner_word(const hak_heap *heap, unsigned cls) {
    return (uintptr_t)heap->seat + cls;
}
HAK_INLINE hak_seat *hak_seat_in(uintptr_t owner) {
    return (hak_seat *)(owner & ~(uintptr_t)(HAK_CLASS_LIMIT - 1));
}
HAK_INLINE unsigned hak_class_of_owner(uintptr_t owner) {
    return (unsigned)(owner & (HAK_CLASS_LIMIT - 1));
}

/* The next two for pointers outside the first range. */
hak_slab *hak_run_elsewhere(const void *p);
uintptr_t hak_owner_elsewhere(const void *p);

/* The owner word of p's page; 0 when p lies in no slab. It may change at any time unless the
 * calling thread is that owner. */
HAK_INLINE uintptr_t hak_owner_of(const void *p) {
    const hak_range *r = &hak_ranges[0];
    size_t page = hak_page_index(r, p);
    if (HAK_UNLIKELY(page >= HAK_READ_GROWING(r->limit)))
        return hak_owner_elsewhere(p);
    return atomic_load_explicit(&r->owners[page], memory_order_relaxed);
}

/* What the owner words of the first range are looked up by: a copy, which a loop that writes to
 * memory can keep in registers. */
typedef struct hak_owners {
    uintptr_t base;
    size_t limit;
    const _Atomic(uintptr_t) *of;
} hak_owners;

HAK_INLINE hak_owners hak_owners_now(void) {
    const hak_range *r = &hak_ranges[0];
    return (hak_owners){r->base, HAK_READ_GROWING(r->limit), r->owners};
}

/* Whether p's page has this owner word; false outside the first range. */
HAK_INLINE bool hak_owners_say(const hak_owners *owners, const void *p, uintptr_t owner) {
    size_t page = ((uintptr_t)p - owners->base) >> HAK_PAGE_SHIFT;
    return page < owners->limit &&
           atomic_load_explicit(&owners->of[page], memory_order_relaxed) == owner;
}

/* Entry of the run that page `page` of range r lies in: its head for a slab, else the page's own.
 */
HAK_INLINE hak_slab *hak_run_at(const hak_range *r, size_t page) {
    return &r->slabs[page] - r->slabs[page].tail;
}

/* The same for the page that p lies in. NULL when p is foreign. */
HAK_INLINE hak_slab *hak_run_of(const void *p) {
    const hak_range *r = &hak_ranges[0];
    size_t page = hak_page_index(r, p);
    if (HAK_UNLIKELY(page >= HAK_READ_GROWING(r->limit)))
        return hak_run_elsewhere(p);
    return hak_run_at(r, page);
}

/* The run that covers page `page` of r, its first or not, for messages; NULL: none does. */
const hak_slab *hak_run_covering(const hak_range *r, size_t page);

/* Adds one more range. NULL: the system refused, or there are too many. Under the segment lock. */
hak_range *hak_range_add(void);

/* Whether it has address space for so many free pages at its end. Under the segment lock. */
bool hak_range_can_grow(hak_range *r, size_t pages);

/* Adds segments never used before, until a range ends with `pages` free pages in a row: range
 * `first`, unless it is NULL or full. Returns the range; NULL: out of memory. Under the segment
 * lock. */
hak_range *hak_range_grow(hak_range *first, size_t pages);

/* Number of ranges in use, and of the pages that they have tables for. */
size_t hak_range_count(void);
size_t hak_range_pages(void);
#define HAK_EACH_RANGE(r) for (hak_range *r = hak_ranges; r < hak_ranges + hak_range_count(); r++)
