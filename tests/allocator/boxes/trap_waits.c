/* A thread that frees a block of the sampled guard while another one looks at its canary sleeps. If
 * it has a higher priority the other one may need its processor. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"
#include "trap/pool.h"
#include "trap/trap.h"

enum { SIZE = 20, SWITCHES = 5, ERROR = 7 };

static _Atomic int task;

static void *free_it(void *block) {
    errno = ERROR;
    atomic_store(&task, gettid());
    CHECK(hak_trap_give(block) && errno == ERROR);
    return NULL;
}

/* How often the thread has given its processor away. */
static unsigned long switches_of(int number) {
    char path[64], line[128];
    unsigned long count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", number);
    FILE *status = fopen(path, "r");
    while (status != NULL && fgets(line, sizeof line, status))
        sscanf(line, "voluntary_ctxt_switches: %lu", &count);
    if (status != NULL)
        fclose(status);
    return count;
}

int main(void) {
    hang_limit();
    CHECK(hak_trap_open());
    char *block = hak_trap_take(SIZE, true);
    CHECK(block);
    size_t slot = hak_trap_slot_at(block);
    CHECK(hak_trap_pass(slot, HAK_TRAP_LIVE, HAK_TRAP_CHECKED));
    pthread_t thread = thread_start(free_it, block);
    while (atomic_load(&task) == 0 || switches_of(task) < SWITCHES)
        sleep_ms(1);
    CHECK(hak_trap_pass(slot, HAK_TRAP_CHECKED, HAK_TRAP_LIVE));
    thread_join(thread);
    CHECK(hak_trap_state_of(slot) == HAK_TRAP_FREE);
    return 0;
}
