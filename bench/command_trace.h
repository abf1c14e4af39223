/* Following processes by ptrace: it stops them where one starts another, runs another program or
 * ends, and at signals. Their system calls and their threads go on as they are. */
#ifndef HAKMEM_BENCH_COMMAND_TRACE_H
#define HAKMEM_BENCH_COMMAND_TRACE_H

#include "command_family.h"

#include <signal.h>

/* Starts the command, traced from its first instruction on; `traced` says whether the system allows
 * that. */
pid_t trace_start(const char *folder, char **command, const sigset_t *mask, bool *traced);

/* A process has stopped: learns what that tells, and lets it go on. */
void trace_resume(pid_t pid, int status, family *seen);

#endif
