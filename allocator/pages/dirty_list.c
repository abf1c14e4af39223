#include "pages/dirty_list.h"

static hak_segment *first, *last;
static _Atomic size_t length;

size_t hak_dirty_count(void) {
    return atomic_load_explicit(&length, memory_order_relaxed);
}

/* Written under the lock alone, so no atomic addition is needed. */
static void set_length(size_t segments) {
    atomic_store_explicit(&length, segments, memory_order_relaxed);
}

hak_segment *hak_dirty_pop(void) {
    hak_segment *s = first;
    if (s == NULL)
        return NULL;
    first = s->dirty_next;
    if (first == NULL)
        last = NULL;
    s->on_dirty_list = false;
    set_length(hak_dirty_count() - 1);
    return s;
}

void hak_dirty_push(hak_segment *s) {
    if (s->on_dirty_list)
        return;
    s->on_dirty_list = true;
    s->dirty_next = NULL;
    if (last != NULL)
        last->dirty_next = s;
    else
        first = s;
    last = s;
    set_length(hak_dirty_count() + 1);
}

void hak_dirty_forget(void) {
    first = last = NULL;
    set_length(0);
}
