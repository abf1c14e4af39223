/* Blocks of a few threads go into as many chains at once. Where two of them share a chain, each
 * change between them sends it, and how often that happens goes by where the seats lie.
 */
#include "remote/chain.h"

#include "../support/check.h"
#include "../support/threads.h"
#include "include/hakmem.h"
#include "thread/thread.h"

enum { CLASS = 5 };

static pthread_barrier_t all_there;
static uintptr_t owners[HAK_FEW_SEATS];

static void *own(void *owner) {
    hak_free(hak_malloc(100));
    *(uintptr_t *)owner = hak_owner_word(hak_this_thread.owned, CLASS);
    pthread_barrier_wait(&all_there);
    return NULL;
}

int main(void) {
    hang_limit();
    CHECK(pthread_barrier_init(&all_there, NULL, HAK_FEW_SEATS) == 0);
    threads_run(HAK_FEW_SEATS, own, owners, sizeof *owners);
    unsigned chains = 0;
    for (int i = 0; i < HAK_FEW_SEATS; i++)
        chains |= 1u << hak_chain_of(owners[i]);
    CHECK_THAT(chains == (1u << HAK_FEW_SEATS) - 1, "two threads share a chain");
    return 0;
}
