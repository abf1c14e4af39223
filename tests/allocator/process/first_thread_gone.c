/* A program whose first thread has ended, and which its other threads end: the system knows little
 * of a process by the number of its first thread then. The library still reads its own process:
 * what its memory is, where libraries lie (for heap profiles), and which blocks leaked. The program
 * starts itself again for it. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/far_down.h"
#include "../support/folder.h"
#include "../support/threads.h"

enum { SIZE = 3000, MANY = 500, TEXT = 1 << 18, PATH = 128 };

static char folder[] = "/tmp/hakmem-first-gone-XXXXXX";
static char text[TEXT], path[PATH];
static pthread_t first;

static void *function(const char *name) {
    void *found = dlsym(RTLD_DEFAULT, name);
    CHECK_THAT(found, "no %s", name);
    return found;
}

static void forget(void) {
    for (int i = 0; i < MANY; i++) {
        char *volatile block = malloc(SIZE);
        CHECK(block);
        block[0] = 1;
    }
}

static void read_file(const char *name) {
    FILE *file = fopen(name, "r");
    CHECK_THAT(file, "no %s", name);
    text[fread(text, 1, TEXT - 1, file)] = '\0';
    fclose(file);
}

static void memory_is_known(void) {
    size_t (*write_json)(char *, size_t) = (size_t (*)(char *, size_t))function("hak_stats_json");
    static const char name[] = "\"process_resident_bytes\":";
    CHECK(write_json(text, TEXT) < TEXT);
    const char *figure = strstr(text, name);
    CHECK_THAT(figure && strtoul(figure + sizeof name - 1, NULL, 10) > 0, "%.60s",
               figure ? figure : "no figure");
}

static void places_are_known(const char *profile) {
    int (*dump)(const char *) = (int (*)(const char *))function("hak_profile_dump");
    CHECK(dump(profile) == 0);
    read_file(profile);
    const char *places = strstr(text, "MAPPED_LIBRARIES:\n");
    CHECK_THAT(places && strstr(places, ".so"), "%s", places ? places : "no list of libraries");
}

static void *goes_on(void *profile) {
    CHECK(pthread_join(first, NULL) == 0);
    memory_is_known();
    places_are_known(profile);
    far_down(forget, 20);
    return NULL;
}

static _Noreturn void end_first(char *profile) {
    first = pthread_self();
    thread_start(goes_on, profile);
    pthread_exit(NULL);
}

/* The profile of leaks is the one file that is left. */
static void leaks_are_found(void) {
    char profile[PATH], *arguments[] = {"first_thread_gone", profile, NULL};
    snprintf(profile, PATH, "%s/dumped", folder);
    snprintf(path, PATH, "%s/p", folder);
    setenv("HAKMEM_PROFILE_HEAP", path, 1);
    setenv("HAKMEM_PROFILE_RATE", "1", 1);
    setenv("HAKMEM_LEAKS", "1", 1);
    int status = run_again(arguments, STDERR_FILENO, text, TEXT);
    remove_folder(folder);
    CHECK_THAT(status == 0, "wait status %x:\n%s", status, text);
    CHECK_THAT(strstr(text, "hakmem: leaks: about"), "leaks: '%s'", text);
}

int main(int count, char **arguments) {
    hang_limit();
    if (count == 2)
        end_first(arguments[1]);
    int (*start)(size_t) = (int (*)(size_t))function("hak_profile_start");
    if (start(1) == ENOTSUP)
        return SKIPPED;
    CHECK(mkdtemp(folder));
    leaks_are_found();
    return 0;
}
