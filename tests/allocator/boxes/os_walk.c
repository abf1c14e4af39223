/* Walks along frames of known size: each is what libc's backtrace sees, whatever was there before,
 * and what was walked once is not unwound again. */
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "os/stack.h"
#include "os/walk.h"

#if defined __GLIBC__ && defined __x86_64__
#include <execinfo.h>
#include <unwind.h>

enum { MOST = 64, DEPTHS = 40, ROUNDS = 4, SIGNAL_STACK = 1 << 16 };
#define NOINLINE __attribute__((noinline))

static _Unwind_Reason_Code (*unwind)(_Unwind_Trace_Fn visit, void *context);
static unsigned unwound, walks;

static _Unwind_Reason_Code counted(_Unwind_Trace_Fn visit, void *context) {
    unwound++;
    return unwind(visit, context);
}

static void *find(void *handle, const char *name) {
    void *found = dlsym(handle, name);
    if (strcmp(name, "_Unwind_Backtrace") != 0)
        return found;
    unwind = (_Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void *))found;
    return (void *)counted;
}

/* Their first addresses are both in this function, behind one call and the other. */
static NOINLINE void compare_up_to(unsigned most) {
    void *ours[MOST], *theirs[MOST];
    unsigned found = hak_os_stack(ours, most), all = (unsigned)backtrace(theirs, MOST);
    CHECK(found == (all < most ? all : most));
    CHECK(memcmp(ours + 1, theirs + 1, (found - 1) * sizeof *ours) == 0);
    walks++;
}

static NOINLINE void compare(void) {
    for (unsigned most = 1; most <= MOST; most += most)
        compare_up_to(most);
}

static NOINLINE int recurse(int depth, int left) {
    if (depth == 0)
        compare();
    return depth == 0 ? left : recurse(depth - 1, left) + depth % 3;
}

/* Frames with a frame pointer: gcc finds the second by an address that it keeps in it. */
static NOINLINE int varying(size_t size, int depth) {
    volatile char *room = alloca(size);
    room[size - 1] = 1;
    return recurse(depth, room[size - 1]) + room[size - 1];
}

static NOINLINE int aligned(size_t size, int depth) {
    _Alignas(64) volatile char line[64] = {1};
    volatile char *room = alloca(size);
    room[size - 1] = 1;
    return varying(size / 2, depth) + line[(unsigned char)room[size - 1]];
}

/* The same place on the stack, under callers of several sizes. */
static NOINLINE int from_here(size_t size, int depth) {
    return varying(4096 - size, depth) + aligned(size, depth);
}

static void everywhere(void) {
    for (int depth = 0; depth < DEPTHS; depth++)
        for (size_t size = 16; size < 4096; size = size * 5 / 2) {
            varying(size, depth % 5);
            aligned(size, depth % 5);
            from_here(size, depth % 5);
        }
    for (int depth = 0; depth < DEPTHS; depth++)
        recurse(depth, 0);
}

static void *run(void *nothing) {
    for (int round = 0; round < ROUNDS; round++)
        everywhere();
    return nothing;
}

static void in_threads(void) {
    pthread_t threads[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void handle(int number) {
    (void)number;
    recurse(3, 0);
}

static void in_handlers(int flags) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(raise(SIGUSR1) == 0);
}

static void on_its_own_stack(void) {
    stack_t other = {.ss_sp = malloc(SIGNAL_STACK), .ss_size = SIGNAL_STACK};
    CHECK(other.ss_sp != NULL && sigaltstack(&other, NULL) == 0);
    in_handlers(SA_ONSTACK);
    other.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&other, NULL) == 0);
    free(other.ss_sp);
}

/* From one place, so that nothing differs but what is known: the loop cannot be unrolled. */
static void is_not_unwound_again(void) {
    unsigned before = 0;
    for (volatile int round = 0; round < 3; round++) {
        if (round == 2)
            before = unwound;
        recurse(DEPTHS / 2, 0);
        varying(100, 2);
    }
    CHECK(unwound == before);
    CHECK(unwound != 0 && unwound < walks);
}

int main(void) {
    hak_os_stack_start();
    hak_os_walk_start(find);
    if (unwind == NULL)
        return SKIPPED;
    is_not_unwound_again();
    run(NULL);
    in_threads();
    in_handlers(0);
    on_its_own_stack();
    return 0;
}
#else
int main(void) {
    return SKIPPED; /* there are no such walks */
}
#endif
