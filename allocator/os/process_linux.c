#include "os/calls.h"
#include "os/lock.h"
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static HAK_EARLY const hak_os_hooks *registered;
static HAK_EARLY pthread_key_t exit_key;
static HAK_EARLY bool have_exit_key, have_fork_hooks;

/* Other keys' destructors free memory too, so ours asks to be called again in each of the rounds
 * that POSIX allows, and lets go of the thread's heap in the last but one. The key's value points
 * at the round that comes next. */
enum { ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS };
static const char rounds[ROUNDS];

static void thread_exits(void *value) {
    const char *round = value;
    if (round + 2 < rounds + ROUNDS) {
        pthread_setspecific(exit_key, round + 1);
        return;
    }
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    registered->on_thread_exit();
}

HAK_TLS bool hak_forks;
static HAK_TLS bool is_mended; /* the child, by hak_fork_look, before our handler ran */
static HAK_TLS pid_t parent;

static void mend_child(void) {
    is_mended = true;
    registered->after_fork_in_child();
}

static void before_fork(void) {
    parent = hak_call_process();
    is_mended = false;
    hak_forks = true;
}

/* A child may have its parent's number, in a PID namespace of its own: this cannot be seen here.
 * Then our own handler mends, and handlers that run before it must not need a lock that was
 * held. */
void hak_fork_look(void) {
    if (!is_mended && hak_call_process() != parent)
        mend_child();
}

static void after_fork_in_parent(void) {
    hak_forks = false;
}

/* A handler of signals may have forked within the fork: so hak_forks says nothing here. */
static void after_fork_in_child(void) {
    if (!is_mended)
        mend_child();
    is_mended = hak_forks = false;
}

/* System calls that the signal interrupts go on. */
bool hak_os_on_signal(int signal, void (*handler)(int signal)) {
    struct sigaction before, ours = {.sa_handler = handler, .sa_flags = SA_RESTART};
    return HAK_KEEP_ERRNO(sigaction(signal, NULL, &before) == 0 && before.sa_handler == SIG_DFL &&
                          sigaction(signal, &ours, NULL) == 0);
}

bool hak_os_is_handler(int signal, void (*handler)(int signal)) {
    struct sigaction now;
    return HAK_KEEP_ERRNO(sigaction(signal, NULL, &now) == 0 && now.sa_handler == handler);
}

bool hak_os_start(const hak_os_hooks *hooks) {
    registered = hooks;
    if (!have_exit_key)
        have_exit_key = pthread_key_create(&exit_key, thread_exits) == 0;
    if (!have_fork_hooks)
        have_fork_hooks =
            pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    return have_exit_key && have_fork_hooks;
}

bool hak_os_watch_this_thread(void) {
    return have_exit_key && pthread_setspecific(exit_key, rounds) == 0;
}

/* ---- the end of the process ---- */

#ifdef __GLIBC__
/* Within exit: glibc goes on with what is left, with the new code. */
static void change(int status, void *code) {
    if (status == 0)
        exit((int)(intptr_t)code); // NOLINT(concurrency-mt-unsafe): this thread is in exit already
}

static int at_the_very_end(int code) {
    return on_exit(change, (void *)(intptr_t)code);
}
#else
static int at_the_very_end(int code) {
    return code != 0 ? -1 : 0;
}
#endif

void hak_os_exit_with(int code) {
    if (at_the_very_end(code) == 0)
        return;
    fflush(NULL);
    _exit(code);
}
