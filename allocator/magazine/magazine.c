#include "magazine/magazine.h"

#include "base/bits.h"
#include "base/classes.h"
#include "os/os.h"
#include "pages/heap_room.h"

#include <string.h>

/* ---- depth ---- */

static void set_depth(hak_heap *heap, unsigned cls, unsigned depth) {
    heap->bins[cls].depth = (uint16_t)depth;
    if (!hak_is_armed(heap, cls))
        heap->end[cls] = hak_magazine_end(heap, cls);
}

static void **grown_places(hak_heap *heap) {
    return heap->slots + HAK_SMALL_SLOTS;
}

static void **deep_place(hak_heap *heap, unsigned cls) {
    return grown_places(heap) + HAK_GROWN_SLOTS + hak_classes[cls].first_slot;
}

static unsigned room_for(unsigned cls, unsigned depth) {
    unsigned usual = hak_classes[cls].depth, room = HAK_SMALL_DEPTH;
    if (depth > usual)
        return hak_classes[cls].deepest;
    while (room < depth)
        room *= HAK_DEPTH_STEP;
    return 2 * room > usual ? usual : room;
}

static void **place_for(hak_heap *heap, unsigned cls, unsigned depth) {
    heap->bins[cls].room = (uint16_t)room_for(cls, depth);
    if (depth > hak_classes[cls].depth)
        return deep_place(heap, cls);
    void **place = grown_places(heap) + heap->grown_slots;
    heap->grown_slots += heap->bins[cls].room + HAK_EMPTY_SLOTS;
    return place;
}

/* Slots of fresh memory are empty, and stay untouched. */
static void begin_at(hak_heap *heap, unsigned cls, void **place) {
    for (void **slot = place; slot < place + HAK_EMPTY_SLOTS; slot++)
        if (*slot != NULL)
            *slot = NULL;
    heap->bins[cls].bottom = place + HAK_EMPTY_SLOTS - 1;
    hak_magazine_set_top(heap, cls, heap->bins[cls].bottom);
}

static void lay_out(hak_heap *heap, unsigned cls, void **place, unsigned depth) {
    heap->bins[cls].room = (uint16_t)depth;
    begin_at(heap, cls, place);
    set_depth(heap, cls, depth);
}

/* Few programs want cold blocks. Until the first one comes those magazines share the empty slots of
 * HAK_CLASS_NONE. */
void hak_magazines_lay_out(hak_heap *heap) {
    void **place = heap->slots;
    for (unsigned cls = 0; cls < HAK_FIRST_COLD; cls++) {
        unsigned usual = hak_classes[cls].depth;
        unsigned depth = usual < HAK_SMALL_DEPTH ? usual : HAK_SMALL_DEPTH;
        lay_out(heap, cls, place, depth);
        place += depth + HAK_EMPTY_SLOTS;
    }
    for (unsigned cls = HAK_FIRST_COLD; cls < HAK_CLASSES; cls++)
        lay_out(heap, cls, heap->slots, 0);
}

static void move(hak_heap *heap, unsigned cls, void **place) {
    size_t count = (size_t)(hak_magazine_lay_down(heap, cls) - heap->bins[cls].bottom);
    void **first = heap->bins[cls].bottom + 1;
    begin_at(heap, cls, place);
    memcpy(heap->bins[cls].bottom + 1, first, count * sizeof *first);
    hak_magazine_set_top(heap, cls, heap->bins[cls].bottom + count);
}

void hak_magazine_set_depth(hak_heap *heap, unsigned cls, unsigned depth) {
    if (depth > heap->bins[cls].room)
        move(heap, cls, place_for(heap, cls, depth));
    set_depth(heap, cls, depth);
}

/* Slots beyond the usual depth may have been touched: their memory goes back. */
void hak_magazine_shrink(hak_heap *heap, unsigned cls, unsigned depth) {
    unsigned usual = hak_classes[cls].depth;
    if (heap->bins[cls].depth <= usual)
        return;
    set_depth(heap, cls, depth > usual ? depth : usual);
    if (depth <= usual)
        hak_os_purge_within(hak_magazine_end(heap, cls) + 1,
                            heap->bins[cls].bottom + hak_classes[cls].deepest + 1);
}

/* ---- as deep as it pays ---- */

/* Bytes that the deep magazines of all classes but one may hold. */
static size_t deep_bytes_beside(const hak_heap *heap, unsigned but) {
    size_t bytes = 0;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (cls != but && heap->bins[cls].depth > hak_classes[cls].depth)
            bytes += (size_t)heap->bins[cls].depth * hak_classes[cls].size;
    return bytes;
}

/* True when the magazine can become so deep and all deep ones hold HAK_DEEP_BYTES at most. */
static bool is_worth_it(const hak_heap *heap, unsigned cls, unsigned more) {
    return more > heap->bins[cls].depth &&
           deep_bytes_beside(heap, cls) + (size_t)more * hak_classes[cls].size <= HAK_DEEP_BYTES;
}

static unsigned deeper(const hak_heap *heap, unsigned cls) {
    unsigned deepest = hak_classes[cls].deepest, more = heap->bins[cls].depth * HAK_DEPTH_STEP;
    return more < deepest ? more : deepest;
}

/* Blocks that come back slab after slab are cheap to give to the slabs, and come from there in the
 * order of their addresses. A deep magazine hands them out in the order of a stack, which is as
 * good only while all of it is in the cache; and it is of no use when it overflows all the same.
 * The classes of one structure share the cache: once they are too many for it, all of them stay as
 * they usually are. The first magazine that becomes deep makes room for all. */
void hak_magazine_deepen(hak_heap *heap, unsigned cls) {
    unsigned more = deeper(heap, cls);
    bool in_runs = heap->bins[cls].in_runs;
    heap->crowded |= in_runs && !is_worth_it(heap, cls, more);
    if (in_runs && heap->crowded)
        hak_magazine_shrink(heap, cls, 0);
    else if (more <= hak_classes[cls].depth || hak_heap_room_deepen(heap))
        hak_magazine_set_depth(heap, cls, more);
}

bool hak_magazines_are_empty(const hak_heap *heap) {
    unsigned cls = 1;
    while (cls < HAK_CLASSES && hak_magazine_count(heap, cls) == 0)
        cls++;
    return cls == HAK_CLASSES;
}

void hak_magazines_purge(hak_heap *heap) {
    size_t end = heap->seat->deep_usable ? HAK_HEAP_SIZE : HAK_USUAL_HEAP_SIZE;
    hak_os_purge_within(grown_places(heap), (char *)heap + end);
}

/* Whether the owner may find something in this part of the slots, or leave something there. */
static bool is_in_use(const hak_heap *heap, unsigned cls, uintptr_t from, uintptr_t to) {
    const hak_bin *bin = &heap->bins[cls];
    uintptr_t first = (uintptr_t)(bin->bottom + 1 - HAK_EMPTY_SLOTS);
    bool is_away = hak_is_armed(heap, cls) && bin->held_top == bin->bottom;
    return !is_away && first < to && from < (uintptr_t)(bin->bottom + bin->depth + 1);
}

static bool any_is_in_use(const hak_heap *heap, uintptr_t from, uintptr_t to) {
    unsigned cls = 1;
    while (cls < HAK_CLASSES && !is_in_use(heap, cls, from, to))
        cls++;
    return cls < HAK_CLASSES;
}

/* The deep ones give theirs back as they are emptied. */
size_t hak_magazines_purge_armed(const hak_heap *heap) {
    size_t unit = hak_os_page_size(), bytes = 0;
    uintptr_t from = hak_round_up((uintptr_t)heap->slots, unit);
    uintptr_t end = hak_round_down((uintptr_t)heap + HAK_USUAL_HEAP_SIZE, unit);
    for (uintptr_t to; from < end; from = to + unit) {
        for (to = from; to < end && !any_is_in_use(heap, to, to + unit); to += unit)
            ;
        if (from < to && hak_os_purge((void *)from, to - from))
            bytes += to - from;
    }
    return bytes;
}
