/* While memory waits, one class of a heap stays armed, the one that looked at the clock last,
 * beside those that did not come by in this moment. A heap that looks all the time is left alone.
 */
#include "magazine/arm.h"

#include "heap/owner.h"
#include "include/hakmem.h"
#include "policy/policy.h"
#include "thread/thread.h"

#include "../support/check.h"

enum { FIRST = 3, SECOND = 5, UNUSED = 7, BUSY_LOOKS = 1000 };
static uint64_t now = 1000 * 1000; /* milliseconds */

/* As the slow paths do. */
static void look(hak_heap *heap, unsigned cls) {
    hak_disarm(heap, cls);
    hak_arm(heap, cls, now);
}

static void a_moment_begins(hak_heap *heap) {
    now += HAK_MOMENT_MS;
    look(heap, FIRST);
    CHECK(hak_is_armed(heap, FIRST) && hak_is_armed(heap, SECOND) && hak_is_armed(heap, UNUSED));
}

static void the_last_one_stays(hak_heap *heap) {
    look(heap, FIRST);
    look(heap, SECOND);
    CHECK(!hak_is_armed(heap, FIRST) && hak_is_armed(heap, SECOND) && hak_is_armed(heap, UNUSED));
    look(heap, SECOND);
    CHECK(hak_is_armed(heap, SECOND));
}

static void a_busy_heap_is_left_alone(hak_heap *heap) {
    for (int i = 0; i < BUSY_LOOKS; i++)
        look(heap, SECOND);
    CHECK(!hak_is_armed(heap, SECOND) && hak_is_armed(heap, UNUSED));
    now++;
    look(heap, SECOND);
    CHECK(hak_is_armed(heap, SECOND));
}

int main(void) {
    hak_free(hak_malloc(1));
    hak_heap *heap = hak_heap_self();
    CHECK(hak_owner_enters(heap));
    a_moment_begins(heap);
    the_last_one_stays(heap);
    a_busy_heap_is_left_alone(heap);
    a_moment_begins(heap);
    hak_owner_leaves(heap);
    return 0;
}
