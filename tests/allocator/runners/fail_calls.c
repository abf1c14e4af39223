/* fail_calls PROGRAM: runs PROGRAM again and again, and each time makes another of its memory calls
 * fail with ENOMEM: the first, the second, ... until a run made no more calls than that. Then the
 * same with all calls from the N-th on failing.
 *
 * PROGRAM must end with 0: a refused request is an answer, a crash is not. Calls of the dynamic
 * linker are left alone: it may give up, and crashes on some of them.
 *
 * The calls are caught by a seccomp filter that asks this process (SECCOMP_RET_USER_NOTIF); nothing
 * is preloaded but the library under test. Counted are mmap of anonymous memory, mprotect, madvise
 * and mremap. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CALLS = 2000, SKIPPED = 77, HANG_SECONDS = 1200 };

#define FIELD(name) (unsigned)offsetof(struct seccomp_data, name)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(field))
#define ASK_IF(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), ASK
#define ASK BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int install_filter(void) {
    struct sock_filter code[] = {
        LOAD(nr),
        ASK_IF(SYS_mprotect),
        ASK_IF(SYS_madvise),
        ASK_IF(SYS_mremap),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
        ALLOW,
        LOAD(args[3]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1),
        ASK,
        ALLOW,
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

/* ---- handing the listener from the child to the runner ---- */

typedef union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
} Control;

static void send_file(int socket, int file) {
    char byte = 0;
    Control control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    memcpy(CMSG_DATA(&control.header), &file, sizeof file);
    if (sendmsg(socket, &message, 0) < 0)
        _exit(126);
}

static int receive_file(int socket) {
    char byte;
    Control control;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int file = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) > 0 && message.msg_controllen > 0)
        memcpy(&file, CMSG_DATA(&control.header), sizeof file);
    return file;
}

static void become(char *program, int socket) {
    alarm(HANG_SECONDS);
    int listener = install_filter();
    if (listener < 0)
        _exit(SKIPPED);
    send_file(socket, listener);
    close(listener);
    setenv("LD_PRELOAD", getenv("HAKMEM_LIBRARY_PATH"), 1);
    execl(program, program, NULL);
    _exit(126);
}

/* ---- answering ---- */

typedef struct {
    unsigned number; /* the call that fails, counted from 1; 0: none */
    int and_all_after;
} Failure;

/* True when `address` lies in the dynamic linker of process `pid`. */
static int in_dynamic_linker(unsigned pid, unsigned long long address) {
    char path[40], line[512];
    int inside = 0;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "r");
    while (maps && !inside && fgets(line, sizeof line, maps)) {
        unsigned long long start, end;
        if (strstr(line, "/ld-") && sscanf(line, "%llx-%llx", &start, &end) == 2)
            inside = address >= start && address < end;
    }
    if (maps)
        fclose(maps);
    return inside;
}

/* Answers until the child is gone; returns how many calls it made. */
static unsigned answer_calls(int listener, Failure failure) {
    unsigned calls = 0;
    struct pollfd events = {listener, POLLIN, 0};
    while (poll(&events, 1, -1) > 0 && (events.revents & POLLIN)) {
        struct seccomp_notif call;
        memset(&call, 0, sizeof call);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
            continue;
        int fails = 0;
        if (!in_dynamic_linker(call.pid, call.data.instruction_pointer)) {
            calls++;
            fails = calls == failure.number || (failure.and_all_after && calls > failure.number);
        }
        struct seccomp_notif_resp answer = {.id = call.id};
        if (fails)
            answer.error = -ENOMEM;
        else
            answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    return calls;
}

static unsigned run(char *program, Failure failure, int *status) {
    int sockets[2];
    unsigned calls = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        exit(2);
    pid_t child = fork();
    if (child == 0) {
        close(sockets[0]);
        become(program, sockets[1]);
    }
    close(sockets[1]);
    int listener = receive_file(sockets[0]);
    if (listener >= 0) {
        calls = answer_calls(listener, failure);
        close(listener);
    }
    close(sockets[0]);
    waitpid(child, status, 0);
    return calls;
}

static int is_accepted(int status) {
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Number of runs that ended badly. */
static int fail_each(char *program, int and_all_after) {
    int bad = 0, status;
    for (unsigned number = 1; number < MOST_CALLS; number++) {
        unsigned calls = run(program, (Failure){number, and_all_after}, &status);
        if (!is_accepted(status)) {
            bad++;
            fprintf(stderr, "call %u%s fails: %s %d\n", number,
                    and_all_after ? " and all after" : "",
                    WIFSIGNALED(status) ? "ended by signal" : "exit status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
        if (calls < number) {
            fprintf(stderr, "%u calls, each made to fail\n", calls);
            return bad;
        }
    }
    fprintf(stderr, "more than %d calls\n", MOST_CALLS);
    return bad + 1;
}

int main(int count, char **arguments) {
    int status;
    if (count != 2 || !getenv("HAKMEM_LIBRARY_PATH"))
        return 2;
    unsigned calls = run(arguments[1], (Failure){0, 0}, &status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        fprintf(stderr, "this system does not let a process install a seccomp listener\n");
        return SKIPPED;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || calls == 0) {
        fprintf(stderr, "without any failure: status %x, %u calls\n", (unsigned)status, calls);
        return 1;
    }
    return fail_each(arguments[1], 0) + fail_each(arguments[1], 1) ? 1 : 0;
}
