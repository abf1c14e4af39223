/* Nobody waits for the registry's lock who has no business there: a thread that needs a slab of a
 * class which no idle heap has room of does not take it; and it is free while memory of idle heaps
 * goes back to the system. Who asks for figures takes no lock at all. */
#include "heap/seat.h"

#include "heap/owner.h"
#include "include/hakmem.h"
#include "os/os.h"
#include "pages/epoch.h"
#include "pages/heap_room.h"
#include "pages/segment.h"

#include <pthread.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { THREADS = 300, LEFT = 700, WANTED = 1000, SIZE_LEFT = 1000, SIZE_WANTED = 3000 };
static void *left[THREADS][LEFT], *wanted[WANTED];

static size_t purges;
bool __real_hak_os_purge(void *start, size_t size);
bool __wrap_hak_os_purge(void *start, size_t size);
bool __wrap_hak_os_purge(void *start, size_t size) {
    purges++;
    CHECK_THAT(hak_registry_lock.state == 0, "the lock is held during a call of the system");
    return __real_hak_os_purge(start, size);
}

static void *leave_blocks(void *argument) {
    void **blocks = argument;
    for (int i = 0; i < LEFT; i++)
        CHECK((blocks[i] = hak_malloc(SIZE_LEFT)) != NULL);
    return NULL;
}

static void make_idle_heaps(void) {
    static pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(leave_blocks, left[i]);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
}

static void *take_slabs(void *unused) {
    for (int i = 0; i < WANTED; i++)
        CHECK((wanted[i] = hak_malloc(SIZE_WANTED)) != NULL);
    return unused;
}

/* The thread has a heap when the lock is taken; it would wait for ever. */
static pthread_barrier_t has_heap, lock_is_held;
static void *take_slabs_later(void *unused) {
    hak_free(hak_malloc(SIZE_LEFT));
    pthread_barrier_wait(&has_heap);
    pthread_barrier_wait(&lock_is_held);
    return take_slabs(unused);
}

static void new_slabs_need_no_lock(void) {
    CHECK(pthread_barrier_init(&has_heap, NULL, 2) == 0);
    CHECK(pthread_barrier_init(&lock_is_held, NULL, 2) == 0);
    pthread_t thread = thread_start(take_slabs_later, NULL);
    pthread_barrier_wait(&has_heap);
    hak_lock_take(&hak_registry_lock);
    pthread_barrier_wait(&lock_is_held);
    while (__atomic_load_n(&wanted[WANTED - 1], __ATOMIC_ACQUIRE) == NULL)
        sched_yield();
    hak_lock_give(&hak_registry_lock);
    thread_join(thread);
}

static void no_lock_while_purging(void) {
    size_t before = purges;
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < LEFT; j++)
            if (j % 20 != 0)
                hak_free(left[i][j]);
    hak_purge();
    CHECK_THAT(purges - before > THREADS, "%zu calls", purges - before);
    CHECK(hak_validate());
}

/* A seat is known to all before its heap has memory: who looks at all heaps passes it over. */
static void new_seats_have_no_heap(void) {
    hak_usage before, after;
    hak_get_usage(&before);
    hak_lock_take(&hak_registry_lock);
    hak_seat *seat = hak_heap_room_add();
    CHECK(seat);
    hak_seat_register(seat);
    hak_lock_give(&hak_registry_lock);
    hak_get_usage(&after);
    CHECK(after.blocks == before.blocks);
    CHECK(hak_stats_json(NULL, 0) != 0);
}

/* Whoever asks for figures waits for nobody. */
static void figures_need_no_lock(void) {
    static hak_lock *const locks[] = {&hak_purge_lock, &hak_reclaim_lock, &hak_registry_lock,
                                      &hak_segment_lock};
    hak_usage usage;
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        hak_lock_take(locks[i]);
    hak_get_usage(&usage);
    CHECK(hak_stats_json(NULL, 0) != 0 && hak_stats_prometheus(NULL, 0) != 0);
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        hak_lock_give(locks[i]);
}

int main(void) {
    hang_limit();
    make_idle_heaps();
    CHECK(hak_seat_idle_count() > 0);
    new_slabs_need_no_lock();
    no_lock_while_purging();
    figures_need_no_lock();
    new_seats_have_no_heap();
    return 0;
}
