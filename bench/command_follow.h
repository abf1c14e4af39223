/* Runs a command and follows it, and all that it starts, to their ends. */
#ifndef HAKMEM_BENCH_COMMAND_FOLLOW_H
#define HAKMEM_BENCH_COMMAND_FOLLOW_H

#include "command_family.h"

/* Once, at the beginning: what is left by its parent becomes a child of ours. */
void follow_begin(void);

/* Runs the command once, in `folder` (NULL: here), and returns its wait status; `wall` grows by the
 * seconds that it took. With a name in `seen` the end of each process is seen by ptrace, where the
 * system allows it. What runs on when the command has ended is ended, too. */
int follow(const char *folder, char **command, family *seen, double *wall);

#endif
