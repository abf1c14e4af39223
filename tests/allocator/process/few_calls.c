/* A program under a filter of system calls is not ended because of the allocator: it needs memory
 * calls, locks, clocks and what says how much memory is used, which lists of permitted calls have
 * (systemd's @system-service among them), its process's number when it forks, and nothing else. Nor
 * where the filter refuses to say that there is one. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/threads.h"

static const int permitted[] = {
    SYS_mmap,           SYS_munmap,     SYS_mprotect,  SYS_madvise,         SYS_mremap,
    SYS_futex,          SYS_prctl,      SYS_getrusage, SYS_clock_gettime,   SYS_write,
    SYS_rt_sigreturn,   SYS_exit_group, SYS_getrandom, SYS_prlimit64,       SYS_rt_sigaction,
    SYS_rt_sigprocmask, /* for messages */
    SYS_getpid,         /* for a fork; libc's own calls for it follow */
    SYS_clone,          SYS_clone3,     SYS_wait4,     SYS_set_robust_list, SYS_rseq,
};
enum {
    PERMITTED = sizeof permitted / sizeof *permitted,
    BLOCKS = 100000,
    SIZE = 1000, /* 100 MiB */
    LARGE = 3 << 20,
    LENGTH = 2 * PERMITTED + 2
};

static unsigned answer(int call, bool prctl_is_refused) {
    bool is_refused = call == SYS_prctl && prctl_is_refused;
    return is_refused ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW;
}

/* Any other call ends the process. */
static int install_filter(bool prctl_is_refused) {
    struct sock_filter code[LENGTH];
    struct sock_fprog filter = {LENGTH, code};
    code[0] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < PERMITTED; i++) {
        code[2 * i + 1] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)permitted[i], 0, 1);
        code[2 * i + 2] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer(permitted[i], prctl_is_refused));
    }
    code[LENGTH - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void small_ones(void) {
    static void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(SIZE);
        CHECK(blocks[i]);
        pattern_mark(blocks[i], SIZE, (size_t)i);
    }
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(pattern_marked(blocks[i], SIZE, (size_t)i));
        free(blocks[i]);
    }
}

static void large_ones(void) {
    for (size_t size = LARGE; size < (size_t)LARGE * 16; size *= 2) {
        char *block = malloc(size), *behind = malloc(size);
        CHECK(block && behind);
        block[0] = block[size - 1] = 1;
        block = realloc(block, size * 2);
        CHECK(block && block[0] == 1 && block[size - 1] == 1);
        free(behind);
        free(block);
        free(calloc(1, size));
    }
}

static void forks(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        small_ones();
        malloc_trim(0);
        _exit(0);
    }
    child_must_succeed(child);
}

static int run(bool prctl_is_refused) {
    if (!install_filter(prctl_is_refused)) {
        say("no filter of system calls can be had here");
        return SKIPPED;
    }
    small_ones();
    large_ones();
    errno = 0;
    CHECK(!malloc((size_t)1 << 48) && errno == ENOMEM);
    malloc_trim(0);
    forks();
    small_ones();
    return 0;
}

int main(void) {
    hang_limit();
    pid_t child = fork();
    if (child == 0) {
        run(true);
        _exit(0);
    }
    child_must_succeed(child);
    return run(false);
}
