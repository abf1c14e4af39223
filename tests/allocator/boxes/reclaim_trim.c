/* What lies free inside slabs goes back in steps: no malloc or free does the work of a whole epoch,
 * however many slabs a heap has; be it the calling thread's or that of a thread that has ended. */
#include "thread/thread.h"
#include "include/hakmem.h"
#include "os/os.h"
#include "policy/policy.h"

#include <time.h>

#include "../support/check.h"
#include "../support/threads.h"

/* Half of the blocks are freed, every other one: no two free ones lie side by side. */
enum { SIZE = 4096, SLABS = 10000, IN_SLAB = 16, BLOCKS = SLABS * IN_SLAB, FREED = BLOCKS / 2 };
enum { MOST_ROUNDS = 100000 };
static void *blocks[BLOCKS];

static size_t calls; /* of the system, to give memory back */
bool __real_hak_os_purge(void *start, size_t size);
bool __wrap_hak_os_purge(void *start, size_t size);
bool __wrap_hak_os_purge(void *start, size_t size) {
    calls++;
    return __real_hak_os_purge(start, size);
}

static void *build(void *unused) {
    for (size_t i = 0; i < BLOCKS; i++)
        CHECK((blocks[i] = hak_malloc(SIZE)) != NULL);
    return unused;
}

static void free_those_at(unsigned parity) {
    for (size_t i = 0; i < BLOCKS; i++)
        if ((uintptr_t)blocks[i] / SIZE % 2 == parity)
            hak_free(blocks[i]);
}

/* The program goes on with something else until nearly all of it is back. Returns how much one
 * malloc or free gave back at most. Some thousand rounds will do; a busy machine makes each longer,
 * so they are not more there. */
static size_t worst_of_going_on(void) {
    const struct timespec some = {0, 200000};
    size_t worst = 0;
    for (size_t round = 0; calls < FREED - FREED / 8; round++) {
        CHECK_THAT(round < MOST_ROUNDS, "only %zu of %d pages went back", calls, FREED);
        size_t before = calls;
        void *p = hak_malloc(100);
        size_t between = calls;
        hak_free(p);
        worst = between - before > worst ? between - before : worst;
        worst = calls - between > worst ? calls - between : worst;
        nanosleep(&some, NULL);
    }
    return worst;
}

static void goes_in_steps(const char *whose) {
    calls = 0;
    free_those_at(0);
    size_t worst = worst_of_going_on();
    CHECK_THAT(worst < FREED / 2, "%s heap: one call gave %zu of %d back", whose, worst, FREED);
    CHECK(hak_validate());
    free_those_at(1);
    hak_purge();
}

int main(void) {
    char delay[] = "HAKMEM_PURGE_DELAY=200", *environment[] = {delay, NULL};
    hak_policy_read(environment);
    hang_limit();
    build(NULL);
    goes_in_steps("the thread's own");
    thread_join(thread_start(build, NULL));
    goes_in_steps("an ended thread's");
    return 0;
}
