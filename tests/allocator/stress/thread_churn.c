/* Many threads come and go. Each leaves some blocks behind that later ones free. The process may
 * not grow: the state of ended threads has to be used again. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/invariants.h"
#include "../support/memory.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { WARM = 20000, THREADS = 10000, AT_ONCE = 4, LEFT = 64, GROWTH_KIB = 8192 };

static _Atomic(void *) left_behind[LEFT];

static void leave_behind(size_t place, size_t size) {
    void *block = malloc(size);
    CHECK(block);
    memset(block, 1, size);
    free(atomic_exchange(&left_behind[place], block));
}

static void *live_shortly(void *argument) {
    Random random = random_from(*(const unsigned *)argument);
    for (unsigned i = 0; i < 20; i++) {
        size_t size = 1 + random_below(&random, 3000);
        void *block = malloc(size);
        CHECK(block);
        memset(block, 2, size);
        free(block);
    }
    leave_behind(random_below(&random, LEFT), 1 + random_below(&random, 1500));
    leave_behind(random_below(&random, LEFT), 20000 + random_below(&random, 30000));
    return NULL;
}

static void churn(unsigned threads) {
    for (unsigned first = 0; first < threads; first += AT_ONCE) {
        unsigned numbers[AT_ONCE];
        for (unsigned i = 0; i < AT_ONCE; i++)
            numbers[i] = first + i;
        threads_run(AT_ONCE, live_shortly, numbers, sizeof *numbers);
    }
}

int main(void) {
    churn(WARM);
    size_t before = rss_kib(), size_before = status_kib("VmSize:");
    churn(THREADS);
    size_t after = rss_kib(), size_after = status_kib("VmSize:");
    invariants_hold();
    say("RSS %zu -> %zu KiB, address space %zu -> %zu KiB", before, after, size_before, size_after);
    CHECK_THAT(after <= before + GROWTH_KIB, "RSS %zu -> %zu KiB", before, after);
    CHECK_THAT(size_after <= size_before + 256 * 1024, "VmSize %zu -> %zu KiB", size_before,
               size_after);
    return 0;
}
