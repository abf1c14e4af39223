/* A bench program in miniature: calls labs(3) --ops times and prints the contract's last line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef ALLOCATOR
#define ALLOCATOR ""
#endif
#ifndef THREADS
#define THREADS 1 /* what it says it has */
#endif

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long peak_rss_kib(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

__attribute__((noinline)) long MEASURED(long ops) {
    long sum = 0;
    for (long i = 0; i < ops; i++)
        sum += labs(i - ops);
    return sum;
}

int main(int argc, char **argv) {
    long ops = argc > 1 ? atol(argv[1]) : 1000;
    if (argc > 2 && !strcmp(argv[2], "crash"))
        abort();
    if (argc > 2 && !strcmp(argv[2], "mute"))
        return 0;
    double start = now();
    volatile long result = MEASURED(ops);
    double seconds = now() - start;
    double cpu = (double)clock() / CLOCKS_PER_SEC;
    (void)result;
    printf("bench=toy ops=%ld seconds=%.9f ops_per_sec=%.0f ns_per_op=%.1f peak_rss_kib=%ld "
           "threads=%d seed=1 cpu_seconds=%.9f%s\n",
           ops, seconds, (double)ops / seconds, seconds / (double)ops * 1e9, peak_rss_kib(),
           THREADS, cpu, ALLOCATOR[0] ? " allocator=" ALLOCATOR : "");
    return 0;
}
