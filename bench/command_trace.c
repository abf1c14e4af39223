#include "command_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAILED = 1 };
/* They die with us. */
static const uintptr_t PROCESSES = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                                   PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
/* A driver may start the server from any thread. The server's own threads are not stopped. */
static const uintptr_t THREADS = PTRACE_O_TRACECLONE;

static void *word(uintptr_t value) {
    return (void *)value; /* NOLINT(performance-no-int-to-ptr): ptrace takes numbers so */
}

/* Waits until it is traced, or may run without. */
static _Noreturn void be_command(const char *folder, char **command, const start_state *state,
                                 const int gate[2]) {
    char none;
    close(gate[1]);
    while (read(gate[0], &none, 1) < 0 && errno == EINTR)
        ;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    sigprocmask(SIG_SETMASK, &state->mask, NULL);
    if (state->outranked)
        sched_setparam(0, &state->rank);
    if (null >= 0 && dup2(null, 1) == 1 && (folder == NULL || chdir(folder) == 0))
        execvp(command[0], command);
    fprintf(stderr, "command: cannot run %s: %s\n", command[0], strerror(errno));
    _exit(FAILED);
}

pid_t trace_start(const char *folder, char **command, const start_state *state, bool *traced) {
    int gate[2];
    pid_t child = pipe2(gate, O_CLOEXEC) == 0 ? fork() : -1;
    if (child == 0)
        be_command(folder, command, state, gate);
    if (child < 0) {
        perror("command: fork");
        exit(FAILED);
    }
    *traced = ptrace(PTRACE_SEIZE, child, NULL, word(PROCESSES | THREADS)) == 0;
    close(gate[0]);
    close(gate[1]);
    return child;
}

static void learn(pid_t pid, int event, family *seen) {
    if (event == PTRACE_EVENT_EXIT)
        family_look_at(pid, seen);
    if (event == PTRACE_EVENT_EXEC)
        ptrace(PTRACE_SETOPTIONS, pid, NULL,
               word(family_is_named(pid, seen) ? PROCESSES : PROCESSES | THREADS));
}

void trace_resume(pid_t pid, int status, family *seen) {
    int event = status >> 16, number = WSTOPSIG(status);
    learn(pid, event, seen);
    if (event == PTRACE_EVENT_STOP && number != SIGTRAP)
        ptrace(PTRACE_LISTEN, pid, NULL, NULL); /* stopped by job control, and stays so */
    else
        ptrace(PTRACE_CONT, pid, NULL, word(event == 0 ? (uintptr_t)number : 0));
}
