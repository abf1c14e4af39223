#include "cold/magazine.h"

#include "base/bits.h"
#include "base/classes.h"
#include "cold/arm.h"
#include "cold/range.h"
#include "cold/remote.h"
#include "cold/slab.h"
#include "os/os.h"

#include <string.h>

enum { FEW_SHARE = 8, FEW = 2 };

/* ---- depth ---- */

static void set_depth(hak_heap *heap, unsigned cls, unsigned depth) {
    heap->depth[cls] = (uint16_t)depth;
    if (!hak_is_armed(heap, cls))
        heap->end[cls] = hak_magazine_end(heap, cls);
}

static void **small_place(hak_heap *heap, unsigned cls) {
    return heap->slots + (size_t)cls * (HAK_SMALL_DEPTH + 1);
}

static void **large_place(hak_heap *heap, unsigned cls) {
    return heap->slots + (size_t)HAK_CLASSES * (HAK_SMALL_DEPTH + 1) + hak_classes[cls].first_slot;
}

void hak_magazines_lay_out(hak_heap *heap) {
    for (unsigned cls = 0; cls < HAK_CLASSES; cls++) {
        unsigned depth = hak_classes[cls].depth;
        heap->bottom[cls] = heap->top[cls] = small_place(heap, cls);
        *heap->bottom[cls] = NULL;
        set_depth(heap, cls, depth < HAK_SMALL_DEPTH ? depth : HAK_SMALL_DEPTH);
    }
}

static void move_to_large_place(hak_heap *heap, unsigned cls) {
    if (heap->bottom[cls] != small_place(heap, cls))
        return;
    size_t count = hak_magazine_count(heap, cls);
    void **to = large_place(heap, cls);
    *to = NULL;
    memcpy(to + 1, heap->bottom[cls] + 1, count * sizeof *to);
    heap->bottom[cls] = to;
    heap->top[cls] = to + count;
}

bool hak_magazine_grow(hak_heap *heap, unsigned cls) {
    unsigned usual = hak_classes[cls].depth;
    if (heap->bottom[cls] != small_place(heap, cls) || heap->depth[cls] == usual)
        return false;
    move_to_large_place(heap, cls);
    set_depth(heap, cls, usual);
    return true;
}

void hak_magazine_deepen(hak_heap *heap, unsigned cls) {
    unsigned deepest = hak_classes[cls].deepest, twice = heap->depth[cls] * 2u;
    if (!heap->spilled[cls])
        return;
    heap->spilled[cls] = false;
    move_to_large_place(heap, cls);
    set_depth(heap, cls, twice < deepest ? twice : deepest);
}

/* The slots beyond the usual depth were touched, perhaps. */
static void purge_beyond(void **end, void **deepest) {
    uintptr_t from = hak_round_up((uintptr_t)end, hak_os_page_size());
    uintptr_t to = hak_round_down((uintptr_t)deepest, hak_os_page_size());
    if (from < to)
        hak_os_purge((void *)from, to - from);
}

void hak_magazine_shrink(hak_heap *heap, unsigned cls, unsigned depth) {
    unsigned usual = hak_classes[cls].depth;
    if (heap->depth[cls] <= usual)
        return;
    set_depth(heap, cls, depth > usual ? depth : usual);
    if (depth <= usual)
        purge_beyond(hak_magazine_end(heap, cls) + 1,
                     heap->bottom[cls] + hak_classes[cls].deepest + 1);
}

size_t hak_magazines_purge(hak_heap *heap) {
    void **grown = heap->slots + (size_t)HAK_CLASSES * (HAK_SMALL_DEPTH + 1);
    uintptr_t from = hak_round_up((uintptr_t)grown, hak_os_page_size());
    uintptr_t to = hak_round_down((uintptr_t)(grown + HAK_MAGAZINE_SLOTS), hak_os_page_size());
    return from < to && hak_os_purge((void *)from, to - from) ? to - from : 0;
}

size_t hak_magazine_count(const hak_heap *heap, unsigned cls) {
    void *const *top = hak_is_armed(heap, cls) ? heap->held_top[cls] : heap->top[cls];
    size_t count = (size_t)(top - heap->bottom[cls]);
    return count <= heap->depth[cls] ? count
                                     : 0; /* another thread's magazine that moves just now */
}

/* ---- giving blocks back ---- */

/* To its slab, when that is one of this heap and of the first range: nearly all of them are. */
static bool give_home(hak_heap *heap, unsigned cls, void *block) {
    const hak_range *r = &hak_ranges[0];
    size_t page = hak_page_index(r, block);
    if (HAK_UNLIKELY(page >= HAK_READ_GROWING(r->limit)) ||
        atomic_load_explicit(&r->owners[page], memory_order_relaxed) != hak_owner_word(heap, cls))
        return false;
    hak_slab_put_as(heap, hak_run_at(r, page), block, &hak_classes[cls]);
    return true;
}

/* True: it belongs to another heap, and is on its way in a chain. */
static HAK_DOOR bool give_elsewhere(hak_heap *heap, unsigned cls, void *block, hak_chains *chains) {
    uintptr_t owner = hak_owner_of(block);
    if (HAK_UNLIKELY(hak_class_of_owner(owner) != cls))
        hak_slab_refuse(hak_run_of(block), block);
    if (hak_heap_in(owner) != heap) {
        HAK_TALLY(heap, cls, remote);
        hak_chains_add(chains, hak_heap_in(owner), block);
        return true;
    }
    hak_slab_put(heap, hak_run_of(block), block);
    return false;
}

/* Gives blocks back: returns how many of them other heaps own. */
static size_t give_back(hak_heap *heap, unsigned cls, void **blocks, size_t count) {
    size_t foreign = 0;
    hak_chains elsewhere = {0};
    for (size_t i = 0; i < count; i++)
        if (HAK_UNLIKELY(!give_home(heap, cls, blocks[i])))
            foreign += give_elsewhere(heap, cls, blocks[i], &elsewhere);
    hak_chains_send(&elsewhere);
    return foreign;
}

void hak_magazine_flush(hak_heap *heap, unsigned cls) {
    hak_disarm(heap, cls);
    give_back(heap, cls, heap->bottom[cls] + 1, hak_magazine_count(heap, cls));
    heap->top[cls] = heap->bottom[cls];
}

/* A thread that frees what others allocate will hardly need it: it only gathers blocks for the way
 * home, and more than fill some cache lines would be missed elsewhere. */
static void keep_few(hak_heap *heap, unsigned cls) {
    hak_magazine_flush(heap, cls);
    move_to_large_place(heap, cls);
    unsigned few = hak_classes[cls].depth / FEW_SHARE;
    set_depth(heap, cls, few > FEW ? few : FEW);
}

/*   | oldest ......... | given back: half the usual depth | newest: the other half |
 *
 * The oldest of a magazine deeper than usual stay where they are, so that a free never has to move
 * or to give back more than a few hundred blocks. */
void hak_magazine_make_room(hak_heap *heap, unsigned cls) {
    if (hak_owner_of(*heap->top[cls]) == hak_owner_word(heap, cls) && hak_magazine_grow(heap, cls))
        return;
    size_t usual = hak_classes[cls].depth, count = hak_magazine_count(heap, cls);
    size_t most = count < usual ? count : usual, newest = most / 2, given = most - newest;
    void **from = heap->top[cls] + 1 - most;
    size_t foreign = give_back(heap, cls, from, given);
    memmove(from, from + given, newest * sizeof *from);
    heap->top[cls] -= given;
    heap->spilled[cls] = foreign <= given / 2;
    if (!heap->spilled[cls])
        keep_few(heap, cls);
}
