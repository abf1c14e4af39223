/* The counters of a class follow what a thread does with it, and what another one frees. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/threads.h"
#include "hakmem_research.h"

/* No coarser class stands for the first blocks of 512 bytes. */
enum { SIZE = 512, BLOCKS = 20000, PAIRS = 5000, THREADS = 8 };

static void *blocks[BLOCKS];
static int (*get_counters)(unsigned cls, hak_class_counters *counters);

static hak_class_counters counters_now(void) {
    hak_class_counters found;
    for (unsigned cls = 0; get_counters(cls, &found); cls++)
        if (found.size == SIZE)
            return found;
    check_failed(__FILE__, __LINE__, "no class of %d bytes", SIZE);
}

static void *free_all(void *unused) {
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return unused;
}

/* Every malloc is a pop or a fallback, every free a push or a retire. */
static void every_call_is_counted(void) {
    hak_class_counters before = counters_now();
    for (int i = 0; i < BLOCKS; i++)
        CHECK(blocks[i] = malloc(SIZE));
    hak_class_counters during = counters_now();
    free_all(NULL);
    hak_class_counters after = counters_now();
    CHECK(during.pop + during.fallback == before.pop + before.fallback + BLOCKS);
    CHECK(during.refill > before.refill && during.fallback > before.fallback);
    CHECK(during.push == before.push && during.retire == before.retire);
    CHECK(after.push + after.retire == during.push + during.retire + BLOCKS);
    CHECK(after.retire > during.retire && after.pop == during.pop);
    CHECK(after.remote == before.remote);
}

static void pairs_stay_in_the_magazine(void) {
    hak_class_counters before = counters_now();
    for (int i = 0; i < PAIRS; i++)
        free(malloc(SIZE));
    hak_class_counters after = counters_now();
    CHECK(after.pop + after.fallback == before.pop + before.fallback + PAIRS);
    CHECK_THAT(after.refill <= before.refill + 1, "%lu refills for %d pairs",
               after.refill - before.refill, PAIRS);
}

static void frees_of_another_thread_are_remote(void) {
    hak_class_counters before = counters_now();
    for (int i = 0; i < BLOCKS; i++)
        CHECK(blocks[i] = malloc(SIZE));
    thread_join(thread_start(free_all, NULL));
    hak_class_counters after = counters_now();
    CHECK_THAT(after.remote >= before.remote + BLOCKS / 2, "%lu of %d blocks were remote",
               after.remote - before.remote, BLOCKS);
}

static void *pairs(void *unused) {
    for (int i = 0; i < PAIRS; i++)
        free(malloc(SIZE));
    return unused;
}

/* Also when their heaps have given their memory back. */
static void what_ended_threads_counted_stays(void) {
    hak_class_counters before = counters_now();
    threads_run(THREADS, pairs, blocks, 0);
    malloc_trim(0);
    hak_class_counters after = counters_now();
    CHECK(after.pop + after.fallback == before.pop + before.fallback + THREADS * PAIRS);
    CHECK(after.push + after.retire == before.push + before.retire + THREADS * PAIRS);
}

int main(void) {
    void *address = dlsym(RTLD_DEFAULT, "hak_get_class_counters");
    CHECK(address);
    get_counters = (__typeof__(get_counters))address;
    every_call_is_counted();
    pairs_stay_in_the_magazine();
    frees_of_another_thread_are_remote();
    what_ended_threads_counted_stays();
    return 0;
}
