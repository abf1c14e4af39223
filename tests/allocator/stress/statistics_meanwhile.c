/* Statistics are asked for while threads come and go, hand blocks to each other and give memory
 * back: the walk takes no lock, so it meets slabs, heaps and runs in the middle of anything. */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { THREADS = 3, LIVES = 20 / TEST_SHARE + 1, ROUNDS = 4000, BLOCKS = 64, ROOM = 1 << 18 };
static _Atomic(void *) shared[BLOCKS];
static _Atomic int left = THREADS;

static size_t size_of(uint64_t random) {
    return random % 16 == 0 ? 65537 + random % 300000 : 16 + random % 20000;
}

static void *live(void *unused) {
    uint64_t seed = (uintptr_t)&seed | 1;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        void *block = malloc(size_of(seed >> 33));
        CHECK(block);
        memset(block, 1, 16);
        free(atomic_exchange(&shared[seed >> 58], block));
        if (i % 500 == 0)
            malloc_trim(0);
    }
    return unused;
}

static void *begin_again(void *unused) {
    for (int i = 0; i < LIVES; i++)
        thread_join(thread_start(live, NULL));
    left--;
    return unused;
}

static void look(size_t (*json)(char *, size_t), char *text) {
    size_t length = json(text, ROOM);
    CHECK(length < ROOM && length == strlen(text));
    CHECK_THAT(strcmp(text + length - 3, "]}\n") == 0, "it ends with %s", text + length - 3);
}

int main(void) {
    static char text[ROOM];
    size_t (*json)(char *, size_t);
    *(void **)&json = dlsym(RTLD_DEFAULT, "hak_stats_json");
    CHECK(json);
    hang_limit();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(begin_again, NULL);
    while (left > 0) {
        look(json, text);
        mallinfo2();
    }
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    for (int i = 0; i < BLOCKS; i++)
        free(shared[i]);
    look(json, text);
    return 0;
}
