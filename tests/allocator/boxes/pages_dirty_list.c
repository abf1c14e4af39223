/* pages/dirty_list.h: a queue of segments. Each stands in it once, and comes out in its turn. */
#include "pages/dirty_list.h"

#include "../support/check.h"

enum { SEGMENTS = 5 };

static hak_segment segments[SEGMENTS];

static void push_all(void) {
    for (int i = 0; i < SEGMENTS; i++)
        hak_dirty_push(&segments[i]);
}

static void comes_in_order(void) {
    push_all();
    push_all(); /* again: they are on it */
    CHECK(hak_dirty_count() == SEGMENTS);
    for (int i = 0; i < SEGMENTS; i++)
        CHECK(hak_dirty_pop() == &segments[i]);
    CHECK(hak_dirty_pop() == NULL);
    CHECK(hak_dirty_count() == 0);
}

static void goes_to_the_end_again(void) {
    push_all();
    CHECK(hak_dirty_pop() == &segments[0]);
    hak_dirty_push(&segments[0]);
    for (int i = 1; i <= SEGMENTS; i++)
        CHECK(hak_dirty_pop() == &segments[i % SEGMENTS]);
    CHECK(hak_dirty_pop() == NULL);
}

/* A forked child finds it amid a change, and begins anew with the segments that it finds dirty. */
static void begins_anew(void) {
    push_all();
    hak_dirty_forget();
    CHECK(hak_dirty_count() == 0);
    CHECK(hak_dirty_pop() == NULL);
    segments[3].on_dirty_list = false;
    hak_dirty_push(&segments[3]);
    CHECK(hak_dirty_count() == 1);
    CHECK(hak_dirty_pop() == &segments[3]);
    CHECK(hak_dirty_pop() == NULL);
}

int main(void) {
    comes_in_order();
    goes_to_the_end_again();
    begins_anew();
    return 0;
}
