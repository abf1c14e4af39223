/* HAKMEM_STATS_SOCKET: figures over HTTP on a Unix socket, for this user alone. Clients that are
 * slow, go away or come in numbers harm neither the program nor each other; forked children and
 * programs that are started by exec have nothing of it; what is in the way is left alone. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"
#include "../support/unix_socket.h"

enum { CLIENTS = 40, GONE = 50, ANSWER = 1 << 20, A_FEW = 10 };
static char folder[64], answer[ANSWER];

/* ---- the program that is asked: one letter on stdin, one back ---- */

static int count_sockets(void) {
    int count = 0;
    struct stat found;
    for (int fd = 3; fd < 2048; fd++)
        count += fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode);
    return count;
}

static void *nothing(void *unused) {
    return unused;
}

/* Those that the library has opened have high numbers. */
static int count_high(void) {
    int count = 0;
    for (int fd = 512; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void fork_one(void) {
    CHECK(count_sockets() == 1);
    pid_t child = fork();
    if (child == 0) {
        CHECK_THAT(count_sockets() == 0, "%d sockets in the child", count_sockets());
        CHECK_THAT(count_high() == 0, "%d files in the child", count_high());
        exit(0); /* handlers of the library run, too */
    }
    child_must_succeed(child);
}

/* All descriptors are the program's own: one of its files gets the number of our socket. */
static void close_all(void) {
    struct stat found;
    for (int fd = 3; fd < 2048; fd++) {
        bool ours = fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode);
        close(fd);
        if (ours)
            CHECK(dup2(STDIN_FILENO, fd) == fd);
    }
}

static void takes_no_signals(void) {
    char path[300], line[200];
    bool seen = false;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *status = fopen(path, "r");
        bool ours = false;
        while (status && fgets(line, sizeof line, status)) {
            ours |= strcmp(line, "Name:\thakmem-stats\n") == 0;
            if (ours && strncmp(line, "SigBlk:", 7) == 0) {
                unsigned long wanted = ~(1UL << 8 | 1UL << 18 | 1UL << 31 | 1UL << 32);
                CHECK_THAT((strtoul(line + 7, NULL, 16) & wanted) == wanted, "%s", line);
                seen = true;
            }
        }
        if (status)
            fclose(status);
    }
    closedir(tasks);
    CHECK(seen);
}

static _Atomic int accepted;

/* The library's calls of the system come by here. */
long syscall(long number, ...) {
    typedef long six(long, long, long, long, long, long, long);
    six *next = (six *)dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    accepted += number == SYS_accept4;
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static _Atomic int walks;

/* glibc leaves the lock of this one as a fork finds it: the child would wait for it for ever. */
int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data) {
    typedef int walk(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    walks++;
    return ((walk *)dlsym(RTLD_NEXT, "dl_iterate_phdr"))(visit, data);
}

static void use_up_descriptors(void) {
    const struct rlimit none = {3, 3};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
}

static void do_as_told(char what, char **arguments) {
    if (what == 'd')
        use_up_descriptors();
    if (what == 'a')
        CHECK_THAT(accepted < A_FEW, "it tried %d times in a second", accepted);
    if (what == 'l')
        CHECK_THAT(walks == 1, "%d walks under the loader's lock", walks);
    if (what == 'f')
        fork_one();
    if (what == 'c')
        close_all();
    if (what == 'n')
        CHECK_THAT(count_high() == 0, "%d files", count_high());
    if (what == 's')
        takes_no_signals();
    if (what == 'e')
        unsetenv("HAKMEM_STATS_SOCKET"), execv(arguments[0], arguments);
    if (what == 'x') {
        pthread_t other;
        CHECK(pthread_create(&other, NULL, nothing, NULL) == 0);
        pthread_detach(other);
        pthread_exit(NULL);
    }
}

static int be_asked(char **arguments) {
    char what = 'r';
    free(malloc(100));
    do {
        CHECK(write(STDOUT_FILENO, &what, 1) == 1);
        if (read(STDIN_FILENO, &what, 1) != 1)
            return 0;
        do_as_told(what, arguments);
    } while (what != 'q');
    return 0;
}

/* ---- starting it ---- */

typedef struct program {
    pid_t process;
    int to, from, messages;
} program;

static void set_up_child(const int to[2], const int from[2], const int messages[2]) {
    CHECK(dup2(to[0], STDIN_FILENO) == STDIN_FILENO && dup2(from[1], STDOUT_FILENO) == 1);
    CHECK(dup2(messages[1], STDERR_FILENO) == STDERR_FILENO);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
}

static char told(program p) {
    char back = 0;
    return read(p.from, &back, 1) == 1 ? back : '-';
}

static char tell(program p, char what) {
    CHECK(write(p.to, &what, 1) == 1);
    return told(p);
}

static program start_at(const char *socket) {
    int to[2], from[2], messages[2];
    CHECK(pipe(to) == 0 && pipe(from) == 0 && pipe(messages) == 0);
    program p = {fork(), to[1], from[0], messages[0]};
    if (p.process == 0) {
        set_up_child(to, from, messages);
        setenv("HAKMEM_STATS_SOCKET", socket, 1);
        char *arguments[] = {"/proc/self/exe", "be asked", NULL};
        execv(arguments[0], arguments);
        _exit(9);
    }
    close(to[0]), close(from[1]), close(messages[1]);
    char first = told(p);
    CHECK_THAT(first == 'r', "it answers '%c'", first);
    return p;
}

static int ended(program p) {
    int status;
    CHECK(waitpid(p.process, &status, 0) == p.process);
    close(p.to), close(p.from), close(p.messages);
    return status;
}

static void quit(program p) {
    tell(p, 'q');
    CHECK(ended(p) == 0);
}

/* What it has written to stderr until it ends. */
static const char *says(program p) {
    static char text[1024];
    size_t length = 0;
    CHECK(write(p.to, "q", 1) == 1);
    for (ssize_t got; (got = read(p.messages, text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    CHECK(ended(p) == 0);
    return text;
}

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- asking it ---- */

static int client(const char *path) {
    int fd = connect_to_path(path);
    CHECK_THAT(fd >= 0, "%s: %s", path, strerror(errno));
    return fd;
}

static const char *ask(const char *path, const char *request) {
    int fd = client(path);
    size_t length = 0;
    CHECK(send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request));
    for (ssize_t got; (got = read(fd, answer + length, ANSWER - 1 - length)) > 0;)
        length += (size_t)got;
    answer[length] = '\0';
    close(fd);
    return answer;
}

static void answers_at(const char *path) {
    const char *text = ask(path, "GET /metrics HTTP/1.0\r\n\r\n");
    CHECK_THAT(strncmp(text, "HTTP/1.0 200 OK\r\n", 17) == 0, "%.80s", text);
    const char *body = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length: ");
    CHECK(body && length && strstr(text, "\nhakmem_live_blocks "));
    CHECK(strtoul(length + 16, NULL, 10) == strlen(body + 4));
}

static void begins(const char *request, const char *wanted) {
    const char *text = ask(path_of("a"), request);
    CHECK_THAT(strncmp(text, wanted, strlen(wanted)) == 0, "%s: %.80s", request, text);
}

static void answers_http(void) {
    struct stat file;
    program p = start_at(path_of("a"));
    CHECK(stat(path_of("a"), &file) == 0 && S_ISSOCK(file.st_mode));
    CHECK_THAT((file.st_mode & 0777) == 0600, "mode %o", file.st_mode & 0777U);
    answers_at(path_of("a"));
    begins("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.0 200 OK");
    begins("GET /json?pretty HTTP/1.1\r\n\r\n", "HTTP/1.0 200 OK");
    CHECK(strstr(answer, "\r\n\r\n{\"hakmem\":"));
    begins("HEAD /json HTTP/1.1\n\n", "HTTP/1.0 200 OK");
    CHECK(strcmp(strstr(answer, "\r\n\r\n"), "\r\n\r\n") == 0);
    begins("GET /else HTTP/1.1\r\n\r\n", "HTTP/1.0 404 ");
    begins("GET /metricsx HTTP/1.1\r\n\r\n", "HTTP/1.0 404 ");
    begins("POST / HTTP/1.1\r\n\r\n", "HTTP/1.0 405 ");
    begins("\r\n\r\n", "HTTP/1.0 405 ");
    begins("DELETE /json HTTP/1.0\r\n\r\n", "HTTP/1.0 405 ");
    begins("POST /options HTTP/1.0\r\n\r\n", "HTTP/1.0 409 ");
    CHECK(tell(p, 's') == 's');
    CHECK(tell(p, 'l') == 'l');
    quit(p);
    CHECK_THAT(access(path_of("a"), F_OK) != 0, "the file is still there");
}

/* Guard and hardened builds make none, and say so. */
static void profiles_are_begun(void) {
    program p = start_at(path_of("a"));
    begins("GET /json HTTP/1.0\r\n\r\n", "HTTP/1.0 200 ");
    bool makes_one =
        !strstr(answer, "\"variant\":\"guard") && !strstr(answer, "\"variant\":\"hard");
    begins("GET /heap HTTP/1.0\r\n\r\n", "HTTP/1.0 409 ");
    begins("POST /heap HTTP/1.0\r\n\r\n", makes_one ? "HTTP/1.0 200 " : "HTTP/1.0 501 ");
    begins("GET /heap HTTP/1.0\r\n\r\n", makes_one ? "HTTP/1.0 200 " : "HTTP/1.0 409 ");
    CHECK(!makes_one || (strstr(answer, "\nMAPPED_LIBRARIES:\n") && strstr(answer, "heap_v2/")));
    begins("POST /heap HTTP/1.0\r\n\r\n", makes_one ? "HTTP/1.0 200 " : "HTTP/1.0 501 ");
    CHECK(!makes_one || strstr(answer, "already"));
    begins("DELETE /heap HTTP/1.0\r\n\r\n", "HTTP/1.0 200 ");
    quit(p);
}

static void slow_clients_do_not_matter(void) {
    program p = start_at(path_of("b"));
    int silent = client(path_of("b")), slow = client(path_of("b"));
    CHECK(send(slow, "GET /met", 8, MSG_NOSIGNAL) == 8);
    answers_at(path_of("b"));
    char rest;
    CHECK_THAT(read(silent, &rest, 1) <= 0, "it was answered");
    close(silent), close(slow);
    quit(p);
}

/* One that never reads what it asked for is among them. */
static void clients_go_away(void) {
    program p = start_at(path_of("c"));
    for (int i = 0; i < GONE; i++) {
        int fd = client(path_of("c"));
        CHECK(send(fd, "GET /json HTTP/1.0\r\n\r\n", i % 2 ? 22 : 5, MSG_NOSIGNAL) > 0);
        close(fd);
    }
    answers_at(path_of("c"));
    CHECK(tell(p, 'r') == 'r');
    quit(p);
}

static void many_clients_are_answered(void) {
    pid_t clients[CLIENTS];
    program p = start_at(path_of("d"));
    for (int i = 0; i < CLIENTS; i++)
        if ((clients[i] = fork()) == 0) {
            answers_at(path_of("d"));
            _exit(0);
        }
    for (int i = 0; i < CLIENTS; i++)
        child_must_succeed(clients[i]);
    quit(p);
}

/* The thread does not try again and again. */
static void no_descriptor_is_free(void) {
    program p = start_at(path_of("n"));
    CHECK(tell(p, 'd') == 'd');
    int waits = client(path_of("n"));
    sleep(1);
    CHECK(tell(p, 'a') == 'a');
    close(waits);
    quit(p);
}

/* ---- fork, exec, the end ---- */

static void children_have_nothing(void) {
    program p = start_at(path_of("e"));
    CHECK(tell(p, 'f') == 'f');
    answers_at(path_of("e")); /* the child has ended, and the file is still there */
    quit(p);
}

static void exec_leaves_a_stale_socket(void) {
    program p = start_at(path_of("f"));
    CHECK(tell(p, 'e') == 'r');
    CHECK(connect_to_path(path_of("f")) < 0 && errno == ECONNREFUSED);
    program next = start_at(path_of("f"));
    answers_at(path_of("f"));
    quit(p); /* whose file it is not any more */
    answers_at(path_of("f"));
    quit(next);
}

static void a_killed_process_makes_way(void) {
    program p = start_at(path_of("g"));
    kill(p.process, SIGKILL);
    ended(p);
    CHECK(access(path_of("g"), F_OK) == 0);
    program next = start_at(path_of("g"));
    answers_at(path_of("g"));
    quit(next);
}

static void a_program_may_close_all(void) {
    program p = start_at(path_of("h"));
    CHECK(tell(p, 'c') == 'c');
    connect_to_path(path_of("h"));
    CHECK(tell(p, 'r') == 'r' && tell(p, 'r') == 'r');
    quit(p);
}

static void the_last_thread_ends_the_process(void) {
    program p = start_at(path_of("i"));
    CHECK(tell(p, 'x') == '-');
    CHECK_THAT(ended(p) == 0, "it did not end well");
}

/* ---- what is in the way ---- */

static void is_refused(const char *path, const char *why) {
    program p = start_at(path);
    CHECK(tell(p, 'n') == 'n');
    const char *text = says(p);
    CHECK_THAT(strstr(text, "no statistics there") && strstr(text, why), "%s: '%s'", path, text);
}

static void bad_paths_are_told(void) {
    char longer[256];
    memset(longer, 'a', sizeof longer);
    longer[0] = '/', longer[sizeof longer - 1] = '\0';
    is_refused("relative/path", "must begin with /");
    is_refused(longer, "longer than 107 bytes");
    is_refused(path_of("no/folder"), "there is no such folder");
}

static void what_is_there_stays(void) {
    int file = open(path_of("j"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    CHECK(file >= 0 && write(file, "text", 4) == 4 && close(file) == 0);
    is_refused(path_of("j"), "something is there already");
    struct stat now;
    CHECK(stat(path_of("j"), &now) == 0 && S_ISREG(now.st_mode) && now.st_size == 4);
    program p = start_at(path_of("k"));
    is_refused(path_of("k"), "something is there already");
    answers_at(path_of("k"));
    quit(p);
}

/* As long as a path may be: 107 bytes. */
static void the_longest_path_is_taken(void) {
    char longest[108];
    size_t length = (size_t)snprintf(longest, sizeof longest, "%s/", folder);
    memset(longest + length, 'm', sizeof longest - 1 - length);
    longest[sizeof longest - 1] = '\0';
    program p = start_at(longest);
    answers_at(longest);
    quit(p);
}

static void the_number_is_put_in(void) {
    char name[64];
    program p = start_at(path_of("%p.x%p"));
    snprintf(name, sizeof name, "%d.x%d", (int)p.process, (int)p.process);
    answers_at(path_of(name));
    quit(p);
}

static void clear_folder(void) {
    unlink(path_of("h")), unlink(path_of("i")), unlink(path_of("j"));
    CHECK_THAT(rmdir(folder) == 0, "something is left in %s", folder);
}

int main(int count, char **arguments) {
    if (count > 1)
        return be_asked(arguments);
    hang_limit();
    if (count_sockets() != 0)
        return SKIPPED;
    strcpy(folder, "/tmp/hakmem-XXXXXX");
    CHECK(mkdtemp(folder));
    answers_http();
    profiles_are_begun();
    slow_clients_do_not_matter();
    clients_go_away();
    many_clients_are_answered();
    no_descriptor_is_free();
    children_have_nothing();
    exec_leaves_a_stale_socket();
    a_killed_process_makes_way();
    a_program_may_close_all();
    the_last_thread_ends_the_process();
    bad_paths_are_told();
    what_is_there_stays();
    the_longest_path_is_taken();
    the_number_is_put_in();
    clear_folder();
    return 0;
}
