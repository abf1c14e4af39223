/* A thread that is to be cancelled is not cancelled in malloc or free: not while they write a heap
 * profile, nor while they say something on stderr. It would keep a lock of ours for ever, and after
 * a misuse the program would go on. errno stays, too, where the file cannot be made or stderr is
 * closed. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/folder.h"

enum { MANY = 20000, SIZE = 500 };

static char folder[] = "/tmp/hakmem-cancelled-XXXXXX";
static void *blocks[MANY];
static bool came_through;
static char variable[64];
static void *volatile no_block = variable;

static void allocate_and_free(void) {
    for (int i = 0; i < MANY; i++) {
        errno = EXDEV;
        blocks[i] = malloc(SIZE);
        CHECK_THAT(blocks[i] && errno == EXDEV, "malloc set errno %d", errno);
    }
    for (int i = 0; i < MANY; i++)
        free(blocks[i]);
}

static void free_what_is_none(void) {
    free(no_block);
}

static void *cancelled(void *argument) {
    void (**work)(void) = argument;
    pthread_cancel(pthread_self()); /* takes effect at the next point where it may */
    (*work)();
    came_through = true;
    pthread_testcancel();
    return NULL;
}

static int work_in_thread(void (*work)(void)) {
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, cancelled, (void *)&work) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    _exit(came_through ? 0 : 3); /* no handlers: they may want the lock that the thread has kept */
}

/* The program again, with options of its own and, if so wanted, without stderr. */
static int run(const char *what, const char *prefix) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        setenv("HAKMEM_PROFILE_HEAP", prefix, 1);
        setenv("HAKMEM_PROFILE_RATE", "4096", 1);
        setenv("HAKMEM_PROFILE_PEAK", "25", 1);
        execl("/proc/self/exe", "cancelled", what, (char *)NULL);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

int main(int count, char **arguments) {
    char files[64], nowhere[64];
    if (count == 2 && strcmp(arguments[1], "closed") == 0)
        close(STDERR_FILENO);
    if (count == 2)
        return work_in_thread(strcmp(arguments[1], "misuse") == 0 ? free_what_is_none
                                                                  : allocate_and_free);
    CHECK(mkdtemp(folder));
    snprintf(files, sizeof files, "%s/p", folder);
    snprintf(nowhere, sizeof nowhere, "%s/none/p", folder);
    int written = run("open", files), refused = run("closed", nowhere), said = run("open", nowhere);
    int misuse = run("misuse", nowhere);
    remove_folder(folder);
    CHECK_THAT(written == 0, "while profiles are written: status %x", written);
    CHECK_THAT(refused == 0, "without stderr: status %x", refused);
    CHECK_THAT(said == 0, "while something is said: status %x", said);
    CHECK_THAT(WIFSIGNALED(misuse) && WTERMSIG(misuse) == SIGABRT, "misuse: status %x", misuse);
    return 0;
}
