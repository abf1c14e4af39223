/* The policy changes while threads read it: each finds all of one snapshot, never a mixture. The
 * writer raises two options in turn: so the first is as high as the second, or one step ahead. */
#include "policy/policy.h"

#include "../support/check.h"
#include "../support/threads.h"

enum { READERS = 3, STEPS = 20000 / TEST_SHARE, LEAST_READS = 100 };

static const enum hak_option_index order[] = {HAK_OPTION_purge_delay_ms, HAK_OPTION_huge_keep_kib};
static _Atomic bool ended;
static _Atomic int ready;

static void look(void) {
    hak_policy seen;
    hak_policy_copy(&seen);
    unsigned long first = seen.purge_delay_ms, second = seen.huge_keep_kib;
    CHECK_THAT(first == second || first == second + 1, "%lu and %lu", first, second);
    unsigned long later = hak_policy_now()->huge_keep_kib;
    CHECK_THAT(later >= second, "%lu after %lu", later, second);
}

static void *reader(void *unused) {
    (void)unused;
    for (int i = 0; i < LEAST_READS || !ended; i++) {
        look();
        if (i == 0)
            ready++;
    }
    return NULL;
}

static void write_all(void) {
    for (unsigned long step = 1; step <= STEPS; step++) {
        hak_policy_change_to(order[0], step);
        hak_policy_change_to(order[1], step);
    }
}

int main(void) {
    pthread_t threads[READERS];
    hang_limit();
    hak_policy_change_to(order[0], 0);
    hak_policy_change_to(order[1], 0);
    for (int i = 0; i < READERS; i++)
        threads[i] = thread_start(reader, NULL);
    while (ready < READERS)
        ;
    write_all();
    ended = true;
    for (int i = 0; i < READERS; i++)
        thread_join(threads[i]);
    look();
    CHECK(hak_policy_now()->purge_delay_ms == STEPS && hak_policy_now()->huge_keep_kib == STEPS);
    return 0;
}
