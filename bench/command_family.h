/* What a process and all that it starts hold and use: looked at from outside while they run, by
 * /proc and by the clocks of the processes, and once more when they end. By one thread. */
#ifndef HAKMEM_BENCH_COMMAND_FAMILY_H
#define HAKMEM_BENCH_COMMAND_FAMILY_H

#include <stdbool.h>
#include <sys/types.h>

enum { SERVERS = 256, NAMES = 512 }; /* further ones at a time are not timed, or not named */

typedef struct {
    pid_t pid;
    double seconds; /* processor time as of the last look */
} server;

typedef struct {
    double sum_kib; /* resident memory of all, over the looks */
    long looks;
    bool preloaded;          /* the first process has the file that LD_PRELOAD names */
    const char *name;        /* processes of that name are timed; NULL: none */
    server servers[SERVERS]; /* those whose end was not seen, or not yet */
    int count;
    long ended; /* those whose end was seen, and their processor time */
    double ended_seconds;
    long peak_kib;   /* of the largest of them */
    char ran[NAMES]; /* names of other processes, each behind ", " */
} family;

/* Looks once at `child`, at what else is a child of ours, and at all that the first threads of
 * these have started. */
void family_look(pid_t child, family *seen);

/* Looks at one process: its name, its library, its time and its peak. */
void family_look_at(pid_t pid, family *seen);

/* A process has run another program: it counts by that one's name. Tells whether it is timed. */
bool family_is_named(pid_t pid, family *seen);

/* A process is dead and not yet collected: its clock stands still. */
void family_end(pid_t pid, family *seen);

/* Looks at each child of ours and what it has started, and sends the children a signal. */
void family_signal(int number, family *seen);

/* Processor time of the processes of that name which have the library, in seconds. */
double family_seconds(const family *seen);

#endif
