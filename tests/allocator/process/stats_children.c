/* HAKMEM_STATS_SOCKET with %p: a forked child that lives for a while and allocates gets a socket of
 * its own, although other threads of its parent were in malloc and stdio when it was forked. One
 * that ends or execs at once has neither thread nor socket. None is started in a handler of
 * signals, where a filter of system calls came since the fork, without %p, or in a child that was
 * made past the handlers of fork. What is left of an ended process makes way. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"
#include "../support/unix_socket.h"

enum { HAMMERS = 4, SHORT_LIVES = 60, LONG_LIVES = 4, A_WHILE_MS = 1500, TENTHS = 600 };

static const char *folder;

/* ---- what a child has ---- */

static const char *path_of(pid_t process) {
    static char path[108];
    snprintf(path, sizeof path, "%s/%d", folder, (int)process);
    return path;
}

static bool has_file(pid_t process) {
    return access(path_of(process), F_OK) == 0;
}

/* Without opendir, which allocates. */
static int count_threads(void) {
    char text[4096];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    const char *count = strstr(text, "\nThreads:");
    CHECK(count);
    return atoi(count + 9);
}

/* The process says its number by itself, and the system says who listens. */
static bool answers(pid_t process) {
    static char answer[1 << 20], wanted[40];
    static const char request[] = "GET /json HTTP/1.0\r\n\r\n";
    struct ucred peer;
    socklen_t size = sizeof peer;
    size_t length = 0;
    int fd = connect_to_path(path_of(process));
    if (fd < 0)
        return false;
    CHECK(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == process);
    CHECK(send(fd, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)sizeof request - 1);
    for (ssize_t got; (got = read(fd, answer + length, sizeof answer - 1 - length)) > 0;)
        length += (size_t)got;
    answer[length] = '\0';
    close(fd);
    snprintf(wanted, sizeof wanted, "\"process\":%d,", (int)process);
    CHECK_THAT(strstr(answer, wanted), "%.300s", answer);
    return true;
}

static bool answers_in_time(pid_t process) {
    for (int tenths = 0; tenths < TENTHS; tenths++) {
        if (answers(process))
            return true;
        usleep(100000);
    }
    return false;
}

/* ---- what a child does ---- */

/* Its magazine serves all of these: nothing but the clock leads it to a slow path. */
static void work_ms(int ms) {
    for (int i = 0; i < ms; i++) {
        char *volatile block = malloc(100);
        CHECK(block);
        free(block);
        usleep(1000);
    }
}

static void work_until_killed(void) {
    for (;;)
        work_ms(1000);
}

static void has_none(void) {
    work_ms(A_WHILE_MS);
    CHECK_THAT(!has_file(getpid()) && count_threads() == 1, "it has a socket or a thread");
}

/* ---- the parent's other threads ---- */

static _Atomic bool stop;

static void *hammer(void *unused) {
    while (!stop) {
        FILE *file = fopen("/dev/null", "w");
        CHECK(file);
        for (int i = 0; i < 100; i++) {
            char *block = malloc((size_t)(1 + i * 37));
            CHECK(block);
            fprintf(file, "%p %d\n", (void *)block, i);
            free(block);
        }
        fclose(file);
        fflush(NULL);
    }
    return unused;
}

static pthread_t hammers[HAMMERS];

static void start_hammers(void) {
    stop = false;
    for (int i = 0; i < HAMMERS; i++)
        hammers[i] = thread_start(hammer, NULL);
}

static void stop_hammers(void) {
    stop = true;
    for (int i = 0; i < HAMMERS; i++)
        thread_join(hammers[i]);
}

/* ---- children ---- */

static void end_by(int way) {
    free(malloc(3000));
    CHECK_THAT(count_threads() == 1, "it has %d threads", count_threads());
    if (way == 0)
        _exit(0);
    if (way == 1)
        execl("/bin/true", "true", (char *)NULL);
    exit(0);
}

static void short_lives_leave_nothing(void) {
    for (int i = 0; i < SHORT_LIVES; i++) {
        pid_t child = fork();
        if (child == 0)
            end_by(i % 3);
        child_must_succeed(child);
        CHECK_THAT(!has_file(child), "child %d, way %d: there is a socket", i, i % 3);
    }
}

static void is_killed(pid_t child) {
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
}

static void long_lives_have_their_own(void) {
    pid_t children[LONG_LIVES];
    for (int i = 0; i < LONG_LIVES; i++)
        if ((children[i] = fork()) == 0)
            work_until_killed();
    for (int i = 0; i < LONG_LIVES; i++)
        CHECK_THAT(answers_in_time(children[i]), "child %d has no socket", i);
    CHECK(answers(getpid()));
    for (int i = 0; i < LONG_LIVES; i++) {
        is_killed(children[i]);
        CHECK(unlink(path_of(children[i])) == 0);
    }
}

/* A child of the child, as daemons are; each removes its file where it ends by itself. */
static void an_end_removes_the_file(void) {
    pid_t child = fork();
    if (child == 0) {
        pid_t own = fork();
        if (own == 0) {
            while (!answers(getpid()))
                work_ms(10);
            exit(0);
        }
        while (!answers(getpid()))
            work_ms(10);
        child_must_succeed(own);
        CHECK(!has_file(own));
        exit(0);
    }
    child_must_succeed(child);
    CHECK_THAT(!has_file(child), "the file is still there");
}

static void leave_stale_socket(pid_t process) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path_of(process));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && close(fd) == 0);
}

static void a_stale_socket_makes_way(void) {
    pid_t child = fork();
    if (child == 0) {
        leave_stale_socket(getpid());
        while (!answers(getpid()))
            work_ms(10);
        exit(0);
    }
    child_must_succeed(child);
    CHECK(!has_file(child));
}

/* ---- where none is started ---- */

static void in_a_child(void (*body)(void)) {
    pid_t child = fork();
    if (child == 0) {
        body();
        exit(0);
    }
    child_must_succeed(child);
    CHECK_THAT(!has_file(child), "it left a socket");
}

static void handle(int signal) {
    (void)signal;
    has_none();
}

/* SIGURG, which nobody handles, is blocked all the time, as in postgres. */
static void handles_a_signal(void) {
    sigset_t one;
    sigemptyset(&one), sigaddset(&one, SIGURG);
    CHECK(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0);
    CHECK(signal(SIGUSR1, handle) != SIG_ERR && raise(SIGUSR1) == 0);
    while (!answers(getpid()))
        work_ms(10);
}

/* Ends the process for a socket. */
static void confines_itself(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_socket, 0, 1),
        BPF_STMT(BPF_RET, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0)
        has_none();
}

/* Its parent, which waits for a time like this, has the handlers' word for it. */
static void is_made_past_the_handlers(void) {
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        has_none();
        _exit(0);
    }
    child_must_succeed(child);
    CHECK(!has_file(child));
}

/* What its exit handlers allocate comes long after the second, too. */
static void allocate_late(void) {
    free(malloc(100));
}

static void sleeps_and_ends(void) {
    atexit(allocate_late);
    usleep(A_WHILE_MS * 1000);
}

/* ---- ---- */

static int be_parent(void) {
    CHECK(answers(getpid()));
    start_hammers();
    short_lives_leave_nothing();
    long_lives_have_their_own();
    stop_hammers();
    an_end_removes_the_file();
    a_stale_socket_makes_way();
    in_a_child(handles_a_signal);
    in_a_child(confines_itself);
    in_a_child(is_made_past_the_handlers);
    in_a_child(sleeps_and_ends);
    return 0;
}

/* Where no purge epoch comes after the first, the child is still led to the clock again. */
static int never_purge(void) {
    in_a_child(handles_a_signal);
    return 0;
}

static int without_number(void) {
    in_a_child(has_none);
    return 0;
}

static int be_told(const char *what) {
    if (strcmp(what, "never purge") == 0)
        return never_purge();
    return strcmp(what, "without number") == 0 ? without_number() : be_parent();
}

static void run_with(const char *name, const char *what, char *program) {
    char path[128];
    char *arguments[] = {program, (char *)what, (char *)folder, NULL};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    pid_t child = fork();
    if (child == 0) {
        setenv("HAKMEM_STATS_SOCKET", path, 1);
        if (strcmp(what, "never purge") == 0)
            setenv("HAKMEM_PURGE_DELAY", "3600000", 1);
        execv("/proc/self/exe", arguments);
        _exit(9);
    }
    child_must_succeed(child);
}

int main(int count, char **arguments) {
    static char name[] = "/tmp/hakmem-XXXXXX";
    hang_limit();
    if (count > 1) {
        folder = arguments[2];
        return be_told(arguments[1]);
    }
    folder = mkdtemp(name);
    CHECK(folder);
    run_with("%p", "all", arguments[0]);
    run_with("%p", "never purge", arguments[0]);
    run_with("one", "without number", arguments[0]);
    CHECK_THAT(rmdir(folder) == 0, "something is left in %s", folder);
    return 0;
}
