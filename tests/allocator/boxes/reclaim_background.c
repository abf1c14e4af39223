/* A purge thread that ends may be held up right after it has said so. Until it goes on, another one
 * may have begun, and rest. The first one ends all the same: resting, it would take the call that
 * wakes the other, which then rests for ever. */
#include "reclaim/background.h"

#include "os/thread.h"
#include "policy/policy.h"

#include <pthread.h>
#include <stdatomic.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

const hak_policy *__wrap_hak_policy_now(void);
void __real_hak_os_wait(_Atomic uint32_t *word, uint32_t value);
void __wrap_hak_os_wait(_Atomic uint32_t *word, uint32_t value);

static _Thread_local int looks_left; /* of the first thread, at the option: it is 0 for that one */
static _Thread_local bool is_first;
static _Atomic bool rests;
static pthread_t second;

static void *rest(void *unused) {
    CHECK(hak_background_rest());
    return unused;
}

static void let_another_one_begin(void) {
    CHECK(hak_background_begins());
    second = thread_start(rest, NULL);
    while (!atomic_load(&rests))
        sleep_ms(1);
}

const hak_policy *__wrap_hak_policy_now(void) {
    static const hak_policy on = {.purge_thread = 1}, off = {.purge_thread = 0};
    if (is_first && --looks_left == 0)
        let_another_one_begin();
    return is_first ? &off : &on;
}

void __wrap_hak_os_wait(_Atomic uint32_t *word, uint32_t value) {
    CHECK_THAT(!is_first, "the thread that ends rests");
    atomic_store(&rests, true);
    __real_hak_os_wait(word, value);
}

int main(void) {
    hang_limit();
    hak_background_first_lives(true);
    CHECK(hak_background_begins());
    is_first = true;
    looks_left = 2; /* before it says that it is gone, and after */
    CHECK(!hak_background_rest() && looks_left == 0);
    hak_background_wake();
    thread_join(second);
    return 0;
}
