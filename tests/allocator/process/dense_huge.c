/* A program that again and again takes huge blocks, uses all of them and frees them gets the same
 * pages each time: a fault for each of them would cost more than its work. When it is done they go
 * back. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { ROUNDS = 100, MIB = 1 << 20, SIZE = 10 * MIB, LEFT_KIB = 4 << 10, PATIENCE = 6000 };

static volatile char *used(void) {
    volatile char *block = malloc(SIZE);
    CHECK(block);
    for (size_t at = 0; at < SIZE; at += 1024)
        block[at] = 1;
    return block;
}

static void use_two(void) {
    volatile char *first = used(), *second = used();
    free((void *)first);
    free((void *)second);
}

static long faults(void) {
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_minflt;
}

/* Memory goes back when somebody calls the library. */
static void must_go_back(size_t before) {
    for (int i = 0; i < PATIENCE && rss_kib() > before + LEFT_KIB; i++) {
        free(malloc(100));
        sleep_ms(20);
    }
    CHECK_THAT(rss_kib() <= before + LEFT_KIB, "%zu KiB, before %zu", rss_kib(), before);
}

int main(void) {
    size_t before = rss_kib();
    long first = faults();
    for (int i = 0; i < ROUNDS; i++)
        use_two();
    long each_time = 2 * ROUNDS * (SIZE / sysconf(_SC_PAGESIZE)), count = faults() - first;
    CHECK_THAT(count < each_time / 2, "%ld faults of at most %ld", count, each_time);
    must_go_back(before);
    return 0;
}
