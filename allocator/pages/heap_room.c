#include "pages/heap_room.h"

#include "base/bits.h"
#include "os/os.h"

#include <stdatomic.h>

enum {
    YARDS = 64, /* each has twice as many places as the one before it, ... */
    FIRST = 8,  /* ... if the system grants them, and the first one so many */
};

typedef struct yard {
    char *start;
    size_t places, taken;
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
    return hak_round_up(y->places * sizeof(hak_seat), hak_os_page_size());
}

static char *first_heap(const yard *y) {
    return y->start + table_size(y) + wall();
}

static size_t yard_size(const yard *y) {
    return table_size(y) + wall() + y->places * stride();
}

static yard *yard_of(const void *address) {
    size_t count = atomic_load_explicit(&yard_count, memory_order_acquire);
    for (yard *y = yards; y < yards + count; y++)
        if ((uintptr_t)address - (uintptr_t)first_heap(y) < y->places * stride())
            return y;
    return NULL;
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

/* ---- the interface ---- */

static size_t usual_size(void) {
    return hak_round_up(HAK_USUAL_HEAP_SIZE, hak_os_page_size());
}

hak_seat *hak_heap_room_add(void) {
    size_t count = atomic_load_explicit(&yard_count, memory_order_relaxed);
    yard *y = count != 0 ? &yards[count - 1] : NULL;
    if (y == NULL || y->taken == y->places)
        y = add_yard();
    if (y == NULL)
        return NULL;
    hak_seat *seat = (hak_seat *)(void *)y->start + y->taken;
    seat->heap = (hak_heap *)(void *)(first_heap(y) + y->taken++ * stride());
    return seat;
}

bool hak_heap_room_open(hak_seat *seat) {
    if (!seat->usable)
        seat->usable = commit((char *)seat->heap, usual_size());
    return seat->usable;
}

void hak_heap_room_close(hak_seat *seat) {
    hak_heap *heap = seat->heap;
    if (!hak_os_purge(heap, seat->deep_usable ? stride() - wall() : usual_size()))
        *heap = (hak_heap){0};
}

static bool deepen(hak_heap *heap) {
    hak_seat *seat = heap->seat;
    size_t usual = usual_size();
    if (!seat->deep_usable)
        seat->deep_usable = commit((char *)heap + usual, stride() - wall() - usual);
    return seat->deep_usable;
}

bool hak_heap_room_deepen(hak_heap *heap) {
    if (heap->deep == HAK_DEEP_UNKNOWN)
        heap->deep = deepen(heap) ? HAK_DEEP_GRANTED : HAK_DEEP_REFUSED;
    return heap->deep == HAK_DEEP_GRANTED;
}

bool hak_heap_room_holds(const void *address) {
    return yard_of(address) != NULL;
}
