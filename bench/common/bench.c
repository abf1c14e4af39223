/* The runner: starts the workers together, times them, prints the line of results. */
#include "bench.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RESULTS_MAX = 24 };

typedef struct worker_run {
    const bench_spec *spec;
    bench_worker *worker;
    pthread_t thread;
    uint64_t start_ns, end_ns, start_cpu_ns, end_cpu_ns;
} worker_run;

static pthread_barrier_t together;
static struct {
    const char *key;
    uint64_t value;
} results[RESULTS_MAX];
static size_t result_count;

void bench_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    _Exit(BENCH_FAILED);
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}
uint64_t bench_cpu_ns(void) {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void bench_result(const char *key, uint64_t value) {
    if (result_count == RESULTS_MAX)
        bench_fail("more than %d results", RESULTS_MAX);
    results[result_count].key = key;
    results[result_count++].value = value;
}

static void *measured_thread(void *worker) {
    bench_measured(worker);
    return NULL;
}

void bench_in_new_thread(bench_worker *worker) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, measured_thread, worker) != 0)
        bench_fail("cannot start a thread");
    pthread_join(thread, NULL);
}

static void *run_worker(void *argument) {
    worker_run *run = argument;
    const bench_spec *spec = run->spec;
    if (spec->prepare)
        spec->prepare(run->worker);
    pthread_barrier_wait(&together);
    run->start_cpu_ns = bench_cpu_ns();
    run->start_ns = bench_now_ns();
    (spec->relay ? spec->relay : bench_measured)(run->worker);
    run->end_ns = bench_now_ns();
    run->end_cpu_ns = bench_cpu_ns();
    /* Memory is noted while all workers are there and nothing is torn down yet. */
    if (pthread_barrier_wait(&together) == PTHREAD_BARRIER_SERIAL_THREAD)
        bench_note_memory();
    pthread_barrier_wait(&together);
    return NULL;
}

static void *finish_worker(void *argument) {
    worker_run *run = argument;
    if (run->spec->finish)
        run->spec->finish(run->worker);
    return NULL;
}

/* A single worker runs on the main thread: a program without threads must stay without. */
static void on_all(worker_run *runs, uint64_t count, void *(*step)(void *)) {
    if (count == 1) {
        step(&runs[0]);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        if (pthread_create(&runs[i].thread, NULL, step, &runs[i]) != 0)
            bench_fail("cannot start thread %llu", (unsigned long long)i);
    for (uint64_t i = 0; i < count; i++)
        pthread_join(runs[i].thread, NULL);
}

static void set_up_workers(const bench_spec *spec, worker_run *runs, bench_worker *workers) {
    for (uint32_t i = 0; i < spec->config->threads; i++) {
        uint64_t seed = spec->config->seed ^ ((uint64_t)i << 32);
        runs[i] = (worker_run){.spec = spec, .worker = &workers[i]};
        workers[i] = (bench_worker){.config = spec->config,
                                    .all = workers,
                                    .index = i,
                                    .ops = spec->config->ops / spec->config->threads,
                                    .rng = bench_random(&seed)};
    }
}

/* From the first worker's start to the last one's end. */
static worker_run span_of(const worker_run *runs, uint64_t count) {
    worker_run span = runs[0];
    for (uint64_t i = 1; i < count; i++) {
        if (runs[i].start_ns < span.start_ns)
            span.start_ns = runs[i].start_ns;
        if (runs[i].start_cpu_ns < span.start_cpu_ns)
            span.start_cpu_ns = runs[i].start_cpu_ns;
        if (runs[i].end_ns > span.end_ns)
            span.end_ns = runs[i].end_ns;
        if (runs[i].end_cpu_ns > span.end_cpu_ns)
            span.end_cpu_ns = runs[i].end_cpu_ns;
    }
    return span;
}

/* The file that malloc comes from: ld.so only warns when it cannot preload a library. */
static const char *allocator_file(void) {
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, "malloc");
    if (!address || !dladdr(address, &info) || !info.dli_fname)
        return "unknown";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static void print_line(const bench_spec *spec, const worker_run *span) {
    const bench_config *config = spec->config;
    uint64_t ops = config->ops / config->threads * config->threads;
    double seconds = (double)(span->end_ns - span->start_ns) / 1e9;
    double cpu_seconds = (double)(span->end_cpu_ns - span->start_cpu_ns) / 1e9;
    printf("bench=%s ops=%llu seconds=%.6f ops_per_sec=%.0f ns_per_op=%.2f", spec->name,
           (unsigned long long)ops, seconds, (double)ops / seconds, seconds * 1e9 / (double)ops);
    for (size_t i = 0; i < result_count; i++)
        printf(" %s=%llu", results[i].key, (unsigned long long)results[i].value);
    printf(" threads=%llu seed=%llu cpu_seconds=%.6f allocator=%s\n",
           (unsigned long long)config->threads, (unsigned long long)config->seed, cpu_seconds,
           allocator_file());
}

int bench_main(int argc, char **argv, const bench_spec *spec) {
    if (bench_parse(argc, argv, spec) != BENCH_OK)
        return BENCH_USAGE;
    if (spec->setup)
        spec->setup(spec->config);
    uint64_t threads = spec->config->threads;
    if (spec->config->ops < threads) {
        fprintf(stderr, "too few --ops for this many threads\n");
        return BENCH_USAGE;
    }
    worker_run *runs = bench_table(threads * sizeof *runs);
    bench_worker *workers = bench_table(threads * sizeof *workers);
    set_up_workers(spec, runs, workers);
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    on_all(runs, threads, run_worker);
    on_all(runs, threads, finish_worker);
    worker_run span = span_of(runs, threads);
    print_line(spec, &span);
    return fflush(stdout) == 0 ? BENCH_OK : BENCH_FAILED;
}
