#include "pages/heap_room.h"

#include "base/bits.h"
#include "os/os.h"

#include <stdatomic.h>

enum {
    YARDS = 64, /* each has twice as many places as the one before it, ... */
    FIRST = 8,  /* ... if the system grants them, and the first one so many */
};

/* What is known of a place. */
enum { TAKEN = 1, USABLE = 2, DEEP = 4 };

typedef struct yard {
    char *start;
    size_t places, taken_below; /* no place below it is free */
} yard;

static yard yards[YARDS];
static _Atomic size_t yard_count;

/* ---- where things lie ---- */

static size_t wall(void) {
    return hak_os_page_size();
}

/* From one heap to the next. */
static size_t stride(void) {
    return hak_round_up(HAK_HEAP_SIZE, hak_os_page_size()) + wall();
}

static size_t table_size(const yard *y) {
    return hak_round_up(y->places, hak_os_page_size());
}

static char *first_heap(const yard *y) {
    return y->start + table_size(y) + wall();
}

static size_t yard_size(const yard *y) {
    return table_size(y) + wall() + y->places * stride();
}

/* A byte for each place: that of a heap in use is its owner's, others are under the lock. */
static _Atomic uint8_t *state_of(const yard *y, size_t place) {
    return (_Atomic uint8_t *)(void *)(y->start + place);
}

static bool is(const _Atomic uint8_t *state, uint8_t what) {
    return (atomic_load_explicit(state, memory_order_relaxed) & what) != 0;
}

static void set(_Atomic uint8_t *state, uint8_t what) {
    uint8_t old = atomic_load_explicit(state, memory_order_relaxed);
    atomic_store_explicit(state, (uint8_t)(old | what), memory_order_relaxed);
}

static yard *yard_of(const void *address) {
    size_t count = atomic_load_explicit(&yard_count, memory_order_acquire);
    for (yard *y = yards; y < yards + count; y++)
        if ((uintptr_t)address - (uintptr_t)first_heap(y) < y->places * stride())
            return y;
    return NULL;
}

static _Atomic uint8_t *state_of_heap(const hak_heap *heap) {
    yard *y = yard_of(heap);
    return state_of(y, (size_t)((const char *)heap - first_heap(y)) / stride());
}

/* ---- making room ---- */

static bool commit(char *start, size_t size) {
    return hak_os_commit(start, size, true) == HAK_COMMITTED;
}

static bool reserve(yard *y, size_t places) {
    y->places = places;
    y->start = hak_os_reserve(yard_size(y), hak_os_page_size());
    return y->start != NULL && commit(y->start, table_size(y));
}

static yard *add_yard(void) {
    size_t count = atomic_load_explicit(&yard_count, memory_order_relaxed);
    size_t places = count == 0 ? FIRST : 2 * yards[count - 1].places;
    if (count == YARDS)
        return NULL;
    while (!reserve(&yards[count], places))
        if ((places /= 2) == 0)
            return NULL;
    atomic_store_explicit(&yard_count, count + 1, memory_order_release);
    return &yards[count];
}

/* The first free place of a yard; y->places: none. */
static size_t free_place(yard *y) {
    while (y->taken_below < y->places && is(state_of(y, y->taken_below), TAKEN))
        y->taken_below++;
    return y->taken_below;
}

static yard *yard_with_room(void) {
    size_t count = atomic_load_explicit(&yard_count, memory_order_relaxed);
    for (yard *y = yards; y < yards + count; y++)
        if (free_place(y) < y->places)
            return y;
    return add_yard();
}

/* ---- the interface ---- */

static size_t usual_size(void) {
    return hak_round_up(HAK_USUAL_HEAP_SIZE, hak_os_page_size());
}

hak_heap *hak_heap_room_take(void) {
    yard *y = yard_with_room();
    if (y == NULL)
        return NULL;
    char *heap = first_heap(y) + free_place(y) * stride();
    _Atomic uint8_t *state = state_of(y, free_place(y));
    if (!is(state, USABLE) && !commit(heap, usual_size()))
        return NULL;
    set(state, TAKEN | USABLE);
    return (hak_heap *)(void *)heap;
}

void hak_heap_room_give(hak_heap *heap) {
    yard *y = yard_of(heap);
    size_t place = (size_t)((char *)heap - first_heap(y)) / stride();
    _Atomic uint8_t *state = state_of(y, place);
    if (!hak_os_purge(heap, is(state, DEEP) ? stride() - wall() : usual_size()))
        *heap = (hak_heap){0};
    uint8_t usable = atomic_load_explicit(state, memory_order_relaxed) & (USABLE | DEEP);
    atomic_store_explicit(state, usable, memory_order_relaxed);
    if (place < y->taken_below)
        y->taken_below = place;
}

static bool deepen(hak_heap *heap) {
    _Atomic uint8_t *state = state_of_heap(heap);
    if (is(state, DEEP))
        return true;
    if (!commit((char *)heap + usual_size(), stride() - wall() - usual_size()))
        return false;
    set(state, DEEP);
    return true;
}

bool hak_heap_room_deepen(hak_heap *heap) {
    if (heap->deep == HAK_DEEP_UNKNOWN)
        heap->deep = deepen(heap) ? HAK_DEEP_GRANTED : HAK_DEEP_REFUSED;
    return heap->deep == HAK_DEEP_GRANTED;
}

bool hak_heap_room_holds(const void *address) {
    return yard_of(address) != NULL;
}
