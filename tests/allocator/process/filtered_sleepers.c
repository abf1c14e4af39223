/* A filter of system calls refuses membarrier: then what sleeping threads hold stays theirs. What
 * others have freed goes back nevertheless, however many sleep. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { THREADS = 24, OWN = 100, BLOCKS = 8 * 1024, SIZE = 1000, SLACK_KIB = 3 * 1024 };

static pthread_barrier_t asleep, over;

static void *sleep_with_heap(void *unused) {
    void *own[OWN];
    for (int i = 0; i < OWN; i++)
        CHECK(own[i] = malloc(SIZE));
    for (int i = 0; i < OWN; i++)
        free(own[i]);
    pthread_barrier_wait(&asleep);
    pthread_barrier_wait(&over);
    return unused;
}

static void refuse_membarrier(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

/* Not so much that it would go at once. */
static void use_memory(void) {
    static void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(blocks[i] = malloc(SIZE));
        memset(blocks[i], 1, SIZE);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

int main(void) {
    static pthread_t threads[THREADS];
    hang_limit();
    CHECK(pthread_barrier_init(&asleep, NULL, THREADS + 1) == 0);
    CHECK(pthread_barrier_init(&over, NULL, THREADS + 1) == 0);
    refuse_membarrier();
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(sleep_with_heap, NULL);
    pthread_barrier_wait(&asleep);
    size_t before = rss_kib();
    use_memory();
    goes_back_by_itself(before + SLACK_KIB);
    pthread_barrier_wait(&over);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    return 0;
}
