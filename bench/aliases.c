/* How often this processor takes one page of a process for another: a load that meets an earlier
 * store at the same place of another page should not wait for it. Some processors compare only some
 * bits of the two addresses; where these are alike, the load takes the store for its own, and
 * starts again. Whichever pages a program happens to get, it keeps for its life, and so its speed.
 *
 *   aliases [PAGES]    one line: how many of the pages are alike to the first one, and the
 *                      nanoseconds of a store and a load in a pair of pages, alike or not */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 4096, MOST = 1 << 16, ROUNDS = 1500, TRIES = 6 };

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double once(volatile uint64_t *stored, const volatile uint64_t *loaded) {
    uint64_t sum = 0;
    double begun = now_ns();
    for (uint64_t i = 0; i < ROUNDS; i++) {
        *stored = i;
        sum += *loaded;
    }
    *stored = sum;
    return (now_ns() - begun) / (double)ROUNDS;
}

/* The least of some tries: what lies above it is the system's doing. */
static double pair(void *stored, const void *loaded) {
    double least = once(stored, loaded);
    for (int i = 1; i < TRIES; i++) {
        double time = once(stored, loaded);
        least = time < least ? time : least;
    }
    return least;
}

static char *pages_of_their_own(size_t count) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char *pages = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    madvise(pages, count * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < count; i++)
        pages[i * PAGE] = 0;
    return pages;
}

static void tell(const double *times, size_t count) {
    double least = times[1], slow = 0, fast = 0;
    size_t alike = 0;
    for (size_t i = 1; i < count; i++)
        least = times[i] < least ? times[i] : least;
    for (size_t i = 1; i < count; i++) {
        bool is_slow = times[i] > 1.5 * least;
        alike += is_slow;
        *(is_slow ? &slow : &fast) += times[i];
    }
    printf("pages=%zu alike=%zu ns_apart=%.2f ns_alike=%.2f\n", count - 1, alike,
           fast / (double)(count - 1 - alike), alike == 0 ? 0 : slow / (double)alike);
}

int main(int argc, char **argv) {
    static double times[MOST];
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    char *pages = count < 2 || count > MOST ? NULL : pages_of_their_own((size_t)count);
    if (pages == NULL)
        return fprintf(stderr, "aliases: PAGES is a number from 2 to %d\n", MOST), 2;
    for (long i = 1; i < count; i++)
        times[i] = pair(pages, pages + i * PAGE);
    tell(times, (size_t)count);
    return 0;
}
