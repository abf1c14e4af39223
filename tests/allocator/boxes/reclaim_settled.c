/* A heap without a thread counts as settled when nothing waits in it, and nobody looks into it any
 * more. So it must not count as that too early: neither when its thread freed something after a
 * trim for the same epoch, nor when blocks have come back from other threads. */
#include "thread/thread.h"

#include "base/classes.h"
#include "bin/bin.h"
#include "heap/heap.h"
#include "heap/seat.h"
#include "include/hakmem.h"
#include "policy/policy.h"
#include "reclaim/abandon.h"
#include "reclaim/trim.h"

#include "../support/check.h"
#include "../support/threads.h"

enum { EPOCH = 7, SIZE = 4096, LEFT = 3 };

static unsigned class_of(size_t size) {
    unsigned cls = 1;
    while (hak_classes[cls].size < size)
        cls++;
    return cls;
}

static size_t trim(hak_heap *heap, void *context) {
    size_t budget = SIZE_MAX;
    hak_heap_trim_idle(heap, *(const uint32_t *)context, &budget);
    return 1;
}

/* As the ends of so many epochs do. Returns how often a heap was looked into. */
static size_t end_epochs(uint32_t first, uint32_t last) {
    size_t visits = 0;
    for (uint32_t epoch = first; epoch <= last; epoch++)
        visits += hak_heap_each_idle(trim, &epoch);
    return visits;
}

/* A reclaimer has trimmed the heap, for the epoch that is about to begin, while its thread slept.
 * Then the thread frees its block and ends. */
static void freed_after_the_trim(void) {
    hak_heap *heap = hak_heap_obtain();
    unsigned cls = class_of(SIZE);
    CHECK(heap);
    hak_seat *seat = heap->seat;
    void *block = hak_bin_take(heap, cls);
    CHECK(block);
    size_t budget = SIZE_MAX;
    CHECK(hak_heap_trim(heap, EPOCH, &budget) != HAK_TRIM_GOES_ON);
    hak_bin_give(heap, cls, block);
    hak_abandon(heap);
    end_epochs(EPOCH, EPOCH + 3);
    CHECK_THAT(hak_seat_state(seat) == HAK_HEAP_BARE, "state %d", (int)hak_seat_state(seat));
    CHECK(end_epochs(EPOCH + 4, EPOCH + 4) == 0);
}

static void *left[LEFT];
static hak_seat *left_by;

static void *leave_blocks(void *unused) {
    for (int i = 0; i < LEFT; i++)
        CHECK((left[i] = hak_malloc(SIZE)) != NULL);
    left_by = hak_heap_self()->seat;
    return unused;
}

/* The ended thread's heap has been settled when this one gives the blocks back. Then they are on
 * their way. */
static void settle_and_give_back(uint32_t epoch) {
    thread_join(thread_start(leave_blocks, NULL));
    end_epochs(epoch, epoch + 4);
    CHECK(hak_seat_idle_count() == 1);
    for (int i = 0; i < LEFT; i++)
        hak_free(left[i]);
    hak_heap_flush(hak_heap_self());
}

static void came_back_before_a_trim(void) {
    settle_and_give_back(EPOCH + 10);
    end_epochs(EPOCH + 15, EPOCH + 18);
    CHECK_THAT(hak_seat_idle_count() == 0, "%zu heaps have something", hak_seat_idle_count());
}

static void came_back_before_a_purge(void) {
    settle_and_give_back(EPOCH + 20);
    hak_purge();
    CHECK_THAT(hak_seat_idle_count() == 0, "%zu heaps have something", hak_seat_idle_count());
}

int main(void) {
    char delay[] = "HAKMEM_PURGE_DELAY=3000000", *environment[] = {delay, NULL};
    hak_policy_read(environment);
    hang_limit();
    hak_free(hak_malloc(1));
    freed_after_the_trim();
    came_back_before_a_trim();
    came_back_before_a_purge();
    return 0;
}
