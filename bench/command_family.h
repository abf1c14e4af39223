/* What a process and all that it starts hold and use while they run: looked at from outside, by
 * /proc and by the clocks of the processes. By one thread. */
#ifndef HAKMEM_BENCH_COMMAND_FAMILY_H
#define HAKMEM_BENCH_COMMAND_FAMILY_H

#include <stdbool.h>
#include <sys/types.h>

enum { SERVERS = 256 }; /* further ones are not timed */

typedef struct {
    pid_t pid;
    double seconds; /* processor time as of the last look */
} server;

typedef struct {
    double sum_kib; /* resident memory of all, over the looks */
    long looks;
    bool preloaded;   /* the first process has the file that LD_PRELOAD names */
    const char *name; /* processes of that name are timed; NULL: none */
    server servers[SERVERS];
    int count;
    long peak_kib; /* of the largest of them */
} family;

/* Looks once at `child` and all that the first threads of its processes have started. */
void family_look(pid_t child, family *seen);

/* Processor time of the processes of that name which have the library, in seconds. */
double family_seconds(const family *seen);

#endif
