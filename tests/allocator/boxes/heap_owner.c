/* A reclaimer marks a heap, looks whether its owner is busy, and lets it go if so. A thread that
 * forks in between leaves its child a mark that nobody will take off: whoever owns the heap there
 * would wait for ever. And one whose own heap is with a reclaimer has no heap in the child: also
 * where that is found amid a call of malloc, in a handler of fork that runs before ours. */
#include "heap/owner.h"

#include "heap/seat.h"
#include "include/hakmem.h"
#include "thread/thread.h"

#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { THREADS = 4, BLOCKS = 1000, SIZE = 100 };

static void *kept[THREADS];

static void *allocate_and_end(void *keep) {
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        CHECK((blocks[i] = hak_malloc(SIZE)) != NULL);
    for (int i = 1; i < BLOCKS; i++)
        hak_free(blocks[i]);
    *(void **)keep = blocks[0];
    return NULL;
}

static bool is_used(const hak_seat *seat) {
    return hak_seat_has_heap(seat) && hak_seat_state(seat) != HAK_HEAP_FROZEN;
}

static hak_heap *robbed; /* NULL: a heap is marked, but nobody has one for himself yet */

/* What a reclaimer has done when another thread forks. */
static void mark_all(void) {
    hak_lock_take(&hak_reclaim_lock);
    if (robbed)
        robbed->robbed = true;
    HAK_EACH_SEAT(seat)
        if (is_used(seat))
            atomic_fetch_or(&seat->heap->claim, HAK_CLAIM_ROBBED);
}

static void let_all_go(void) {
    HAK_EACH_SEAT(seat)
        if (is_used(seat))
            atomic_fetch_and(&seat->heap->claim, (uint8_t)~HAK_CLAIM_ROBBED);
    if (robbed)
        robbed->robbed = false;
    hak_lock_give(&hak_reclaim_lock);
}

static size_t marked(void) {
    size_t count = 0;
    HAK_EACH_SEAT(seat)
        count += is_used(seat) && (atomic_load(&seat->heap->claim) & HAK_CLAIM_ROBBED) != 0;
    return count;
}

/* The child's threads take the heaps that the parent's left. */
static void child(void) {
    hang_limit();
    CHECK_THAT(marked() == 0, "%zu heaps wait for a reclaimer that is not there", marked());
    threads_run(THREADS, allocate_and_end, kept, sizeof *kept);
    allocate_and_end(&kept[0]);
    _exit(0);
}

/* The reclaimer is a thread that does not fork: a thread's own locks stay its own in its child. */
static pthread_barrier_t is_marked, has_forked;
static void *reclaim(void *unused) {
    mark_all();
    pthread_barrier_wait(&is_marked);
    pthread_barrier_wait(&has_forked);
    let_all_go();
    return unused;
}

/* Large ones and small ones, until some are not served by what is at hand. */
static void allocate_early(void) {
    if (!robbed)
        return;
    hang_limit();
    hak_free(hak_malloc(HAK_MEDIUM_MAX + 1));
    allocate_and_end(&kept[0]);
    CHECK(hak_this_thread.owned != robbed);
}

static void register_early(int count, char **arguments, char **environment) {
    (void)count, (void)arguments, (void)environment;
    pthread_atfork(NULL, NULL, allocate_early);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const early)(int, char **, char **) = register_early;

static void fork_amid(void) {
    pthread_t reclaimer = thread_start(reclaim, NULL);
    pthread_barrier_wait(&is_marked);
    pid_t pid = fork();
    if (pid == 0)
        child();
    pthread_barrier_wait(&has_forked);
    thread_join(reclaimer);
    child_must_succeed(pid);
}

int main(void) {
    hang_limit();
    CHECK(pthread_barrier_init(&is_marked, NULL, 2) == 0);
    CHECK(pthread_barrier_init(&has_forked, NULL, 2) == 0);
    threads_run(THREADS, allocate_and_end, kept, sizeof *kept);
    CHECK(hak_seat_idle_count() > 0);
    fork_amid();
    hak_free(hak_malloc(SIZE));
    robbed = hak_this_thread.owned;
    CHECK(robbed);
    fork_amid();
    CHECK(hak_validate());
    return 0;
}
