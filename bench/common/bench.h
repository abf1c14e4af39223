/* What a benchmark program tells the runner, and what the runner does for it.
 *
 *   main -> bench_main -> parse options -> setup            (main thread, once)
 *                      -> per worker: prepare               (clock stopped)
 *                         barrier, clock on
 *                         relay, or bench_measured itself   (the only thing that is timed)
 *                         clock off, barrier
 *                         finish
 *                      -> one line of key=value on stdout
 *
 * The programs call malloc and free by name, so any allocator can be preloaded. Everything the
 * runner and the programs need for themselves comes from bench_table(), never from malloc: what
 * the allocator sees is the workload alone. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_INLINE static inline __attribute__((always_inline))
#define bench_unlikely(condition) __builtin_expect(!!(condition), 0)

/* Exit codes of every program. */
enum { BENCH_OK = 0, BENCH_FAILED = 1, BENCH_USAGE = 2 };

/* The common options. A program fills in its defaults; the runner overwrites them. */
typedef struct bench_config {
    uint64_t ops;     /* measured operations of all workers together */
    uint64_t seed;    /* same seed, same sequence of calls */
    uint64_t threads; /* workers */
    uint64_t slots;   /* blocks alive at a time, per worker */
    uint64_t min_size;
    uint64_t max_size; /* bytes, inclusive */
    uint64_t check;    /* 1: fill every block and verify it before it is freed */
} bench_config;

/* Which of the common options a program listens to (ops and seed: always). */
enum {
    BENCH_USES_THREADS = 1,
    BENCH_USES_SLOTS = 2,
    BENCH_USES_SIZES = 4,
    BENCH_USES_CHECK = 8,
};

typedef enum { BENCH_COUNT, BENCH_BYTES, BENCH_CHOICE, BENCH_FLAG, BENCH_TEXT } bench_option_kind;

typedef struct bench_option {
    const char *name; /* without the dashes; NULL ends a table */
    bench_option_kind kind;
    uint64_t *value;            /* the default, then what the user asked for; of TEXT: a pointer */
    uint64_t min, max;          /* of COUNT and BYTES, inclusive; max 0: no limit */
    const char *const *choices; /* of CHOICE: names up to a NULL; the value is the index */
    const char *env;            /* a variable that overrides the default, or NULL */
    const char *help;
} bench_option;

typedef struct bench_worker {
    const bench_config *config;
    struct bench_worker *all; /* config->threads workers, this one is all[index] */
    uint32_t index;
    uint64_t ops; /* what one call of bench_measured has to do */
    uint64_t rng; /* state for bench_random, different for every worker */
    void *state;  /* whatever prepare wants to remember */
} bench_worker;

typedef struct bench_spec {
    const char *name;
    const char *summary;
    const char *operation; /* what one operation is, for --help */
    bench_config *config;
    unsigned uses;               /* BENCH_USES_* */
    const bench_option *options; /* of this program alone, or NULL */
    /* Each hook may be NULL. */
    void (*setup)(bench_config *config);   /* main thread, before the workers; may adjust */
    void (*prepare)(bench_worker *worker); /* in the worker's thread, not timed */
    void (*relay)(bench_worker *worker);   /* timed; calls bench_measured its own way */
    void (*finish)(bench_worker *worker);  /* after the clock, in whichever thread */
} bench_spec;

/* The whole program: returns the exit code for main. */
int bench_main(int argc, char **argv, const bench_spec *spec);

/* Written by each program: worker->ops operations. External and never inlined, so that callgrind
 * --toggle-collect=bench_measured counts exactly this. */
void bench_measured(bench_worker *worker) __attribute__((noinline));

/* Runs bench_measured(worker) in a thread made for it and waits for its end. */
void bench_in_new_thread(bench_worker *worker);

/* Adds ` key=value` to the line of results, from one thread at a time. The key must live on. */
void bench_result(const char *key, uint64_t value);

/* Parses argv into the options' values. Returns BENCH_OK to go on, BENCH_USAGE after a message on
 * stderr; --help prints and exits 0. */
int bench_parse(int argc, char **argv, const bench_spec *spec);

/* Zeroed memory straight from the OS, resident already; ends the program if there is none. */
void *bench_table(size_t bytes);

/* Resident memory of this process now, in KiB; cheap, and right to within some 100 KiB. */
uint64_t bench_rss_kib(void);

/* Adds to the results: peak_rss_kib, and as of now rss_kib, of it anon_kib (not from files) and
 * huge_kib (in transparent huge pages), and tables_kib (the benchmark's own). */
void bench_note_memory(void);

/* Monotonic time and CPU time of the whole process, in nanoseconds. */
uint64_t bench_now_ns(void);
uint64_t bench_cpu_ns(void);

/* One line on stderr, exit code 1. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* splitmix64: short, no branches, good enough to draw sizes and slots. */
BENCH_INLINE uint64_t bench_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform in [low, high]; the bias is below 2^-32 for the ranges used here. */
BENCH_INLINE uint64_t bench_random_in(uint64_t *state, uint64_t low, uint64_t high) {
    return low + (uint64_t)(((__uint128_t)bench_random(state) * (high - low + 1)) >> 64);
}

/* As many uniform sizes from the options' range, for a worker to read in order. */
static inline void bench_draw_sizes(bench_worker *worker, uint32_t *sizes, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        sizes[i] = (uint32_t)bench_random_in(&worker->rng, worker->config->min_size,
                                             worker->config->max_size);
}

#endif
