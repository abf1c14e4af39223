/* Signal handlers that fork, wherever they interrupt the allocator: while it holds its locks, too.
 * The child of a program with one thread goes on where its parent was. A handler for SIGABRT may
 * fork a debugger when the allocator has found a misuse under a lock.
 *
 * The processor traps after each instruction, and one in so many traps forks: where the handler
 * interrupts does not depend on how fast the machine is. */
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { FORKS = 300, STRIDE = 251, SLOTS = 16, TRIM_EVERY = 5, CHILD_STEPS = 50 };
enum { TRAP_FLAG = 0x100 };

static volatile sig_atomic_t forks, is_child, traps;

#ifdef __x86_64__
static int trap_from_now_on(void) {
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
    return 1;
}

static void no_more_traps(void *context) {
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}
#else
static int trap_from_now_on(void) {
    return 0;
}

static void no_more_traps(void *context) {
    (void)context;
}
#endif

static void wait_for(pid_t child) {
    int status = 1;
    while (waitpid(child, &status, 0) < 0)
        continue;
    if (status != 0)
        _exit(3);
}

static void fork_now_and_then(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number, (void)info;
    if (++traps % STRIDE != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        hang_limit();
    } else {
        wait_for(child);
        forks++;
    }
    if (is_child || forks == FORKS)
        no_more_traps(context);
}

/* Large blocks and trims, which spend their time under locks. */
static void work(void) {
    void *blocks[SLOTS] = {NULL};
    for (unsigned i = 0, steps_of_child = 0; forks < FORKS; i++) {
        free(blocks[i % SLOTS]);
        blocks[i % SLOTS] = malloc(70000 + (i % 7) * 65536);
        CHECK(blocks[i % SLOTS]);
        *(char *)blocks[i % SLOTS] = 1;
        if (i % TRIM_EVERY == 0)
            malloc_trim(0);
        if (is_child && ++steps_of_child == CHILD_STEPS)
            _exit(0);
    }
}

static void end_after_fork(int signal_number) {
    (void)signal_number;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    _exit(child > 0 && waitpid(child, NULL, 0) == child ? 0 : 2);
}

static void abort_under_a_lock(void) {
    hang_limit();
    CHECK(signal(SIGABRT, end_after_fork) != SIG_ERR);
    void *volatile block = malloc(100), *volatile other = malloc(100);
    free(block);
    free(other);
    free(block);
    malloc_trim(0); /* finds it at the latest */
    _exit(1);
}

int main(void) {
    pid_t child = fork();
    if (child == 0)
        abort_under_a_lock();
    child_must_succeed(child);
    struct sigaction forks_often = {.sa_sigaction = fork_now_and_then, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGTRAP, &forks_often, NULL) == 0);
    if (!trap_from_now_on()) {
        say("nothing here traps after each instruction");
        return SKIPPED;
    }
    work();
    return 0;
}
