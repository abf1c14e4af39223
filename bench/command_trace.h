/* Following processes by ptrace: it stops them where one starts another, runs another program or
 * ends, and at signals. Their system calls and their threads go on as they are. */
#ifndef HAKMEM_BENCH_COMMAND_TRACE_H
#define HAKMEM_BENCH_COMMAND_TRACE_H

#include "command_family.h"

#include <sched.h>
#include <signal.h>

/* What the command gets of what was before we changed it for ourselves. */
typedef struct {
    sigset_t mask;
    struct sched_param rank;
    bool outranked; /* else the rank is ours still, and inherited */
} start_state;

/* Starts the command, traced from its first instruction on; `traced` says whether the system allows
 * that. */
pid_t trace_start(const char *folder, char **command, const start_state *state, bool *traced);

/* A process has stopped: learns what that tells, and lets it go on. */
void trace_resume(pid_t pid, int status, family *seen);

#endif
