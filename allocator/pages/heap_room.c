#include "pages/heap_room.h"

#include "base/bits.h"

enum {
    YARDS = 64,
    PLANNED = 4096, /* places in a planned yard: 8 GiB of addresses, none of them reserved */
    RESERVED = 8,   /* places in the first reserved yard; each further one has twice as many */
};

typedef struct yard {
    char *start;
    size_t places, taken;
    size_t seats; /* that are usable */
    bool is_reserved;
} yard;

static HAK_EARLY yard yards[YARDS];
static HAK_EARLY _Atomic size_t yard_count;

/* ---- where things lie ---- */

static size_t wall(void) {
    return hak_os_page_size();
}

/* From one heap to the next. */
static size_t stride(void) {
    return hak_round_up(HAK_HEAP_SIZE, hak_os_page_size()) + wall();
}

static size_t yard_table_size(const yard *y) {
    return hak_round_up(y->places * sizeof(hak_seat), hak_os_page_size());
}

static char *first_heap(const yard *y) {
    return y->start + yard_table_size(y) + wall();
}

static size_t yard_size(const yard *y) {
    return yard_table_size(y) + wall() + y->places * stride();
}

static yard *yard_of(const void *address) {
    size_t count = atomic_load_explicit(&yard_count, memory_order_acquire);
    for (yard *y = yards; y < yards + count; y++)
        if ((uintptr_t)address - (uintptr_t)first_heap(y) < y->places * stride())
            return y;
    return NULL;
}

/* ---- making room ---- */

/* One system page of seats more. */
static HAK_COLD enum hak_commit add_seats(yard *y) {
    char *end = y->start + y->seats * sizeof(hak_seat);
    enum hak_commit done = hak_os_commit(end, hak_os_page_size(), y->is_reserved);
    if (done == HAK_COMMITTED)
        y->seats += hak_os_page_size() / sizeof(hak_seat);
    return done;
}

/* The first seats show whether the place is free. */
static bool plan(yard *y) {
    enum hak_commit done = HAK_TAKEN;
    y->places = PLANNED;
    for (int tries = 0; tries < HAK_PLANS && done == HAK_TAKEN; tries++) {
        y->start = hak_os_plan(HAK_ZONE_OF_HEAPS, yard_size(y), HAK_SEGMENT_SIZE);
        done = y->start != NULL ? add_seats(y) : HAK_REFUSED;
    }
    return done == HAK_COMMITTED;
}

/* Where the system wants to choose the place itself. */
static bool reserve(yard *y, size_t places) {
    y->is_reserved = true;
    do {
        y->places = places;
        y->start = hak_os_reserve(yard_size(y), hak_os_page_size());
    } while (y->start == NULL && (places /= 2) != 0);
    bool done = y->start != NULL && add_seats(y) == HAK_COMMITTED;
    if (y->start != NULL && !done)
        hak_os_unmap(y->start, yard_size(y));
    return done;
}

/* The entry is cleared first. An attempt that failed may have left something in it, and so may a
 * thread that a forked child does not have. A planned address must not look reserved: a mapping
 * there could overwrite another one. */
static yard *add_yard(void) {
    size_t count = atomic_load_explicit(&yard_count, memory_order_relaxed);
    bool after_reserved = count != 0 && yards[count - 1].is_reserved;
    size_t places = after_reserved ? 2 * yards[count - 1].places : RESERVED;
    yard *y = &yards[count];
    if (count == YARDS)
        return NULL;
    *y = (yard){0};
    if ((after_reserved || !plan(y)) && !reserve(y, places))
        return NULL;
    atomic_store_explicit(&yard_count, count + 1, memory_order_release);
    return y;
}

/* Whether it has another place, with a usable seat. */
static bool has_place(yard *y) {
    return y->taken < y->places && (y->taken < y->seats || add_seats(y) == HAK_COMMITTED);
}

/* ---- the interface ---- */

static size_t usual_size(void) {
    return hak_round_up(HAK_USUAL_HEAP_SIZE, hak_os_page_size());
}

hak_seat *hak_heap_room_add(void) {
    size_t count = atomic_load_explicit(&yard_count, memory_order_relaxed);
    yard *y = count != 0 ? &yards[count - 1] : NULL;
    if (y == NULL || !has_place(y))
        y = add_yard();
    if (y == NULL)
        return NULL;
    hak_seat *seat = (hak_seat *)(void *)y->start + y->taken;
    seat->heap = (hak_heap *)(void *)(first_heap(y) + y->taken++ * stride());
    return seat;
}

static enum hak_commit commit(const hak_seat *seat, size_t from, size_t end) {
    char *heap = (char *)seat->heap;
    return hak_os_commit(heap + from, end - from, yard_of(heap)->is_reserved);
}

enum hak_commit hak_heap_room_open(hak_seat *seat) {
    enum hak_commit done = HAK_COMMITTED;
    if (!seat->usable)
        done = commit(seat, 0, usual_size());
    seat->usable = done == HAK_COMMITTED;
    return done;
}

void hak_heap_room_close(hak_seat *seat) {
    hak_heap *heap = seat->heap;
    if (!hak_os_purge(heap, seat->deep_usable ? stride() - wall() : usual_size()))
        *heap = (hak_heap){0};
}

bool hak_heap_room_deepen(hak_heap *heap) {
    hak_seat *seat = heap->seat;
    if (!seat->deep_usable)
        seat->deep_usable = commit(seat, usual_size(), stride() - wall()) == HAK_COMMITTED;
    return seat->deep_usable;
}

bool hak_heap_room_holds(const void *address) {
    return yard_of(address) != NULL;
}
