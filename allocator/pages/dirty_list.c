#include "pages/dirty_list.h"

static hak_segment *list_first, *list_last;
static _Atomic size_t list_length;

size_t hak_dirty_count(void) {
    return atomic_load_explicit(&list_length, memory_order_relaxed);
}

static void change_count(size_t by) {
    atomic_store_explicit(&list_length, hak_dirty_count() + by, memory_order_relaxed);
}

hak_segment *hak_dirty_pop(void) {
    hak_segment *s = list_first;
    if (s == NULL)
        return NULL;
    list_first = s->dirty_next;
    if (list_first == NULL)
        list_last = NULL;
    s->on_dirty_list = false;
    change_count((size_t)-1);
    return s;
}

void hak_dirty_push(hak_segment *s) {
    if (s->on_dirty_list)
        return;
    s->on_dirty_list = true;
    s->dirty_next = NULL;
    if (list_last != NULL)
        list_last->dirty_next = s;
    else
        list_first = s;
    list_last = s;
    change_count(1);
}

void hak_dirty_forget(void) {
    list_first = list_last = NULL;
    atomic_store_explicit(&list_length, 0, memory_order_relaxed);
}
