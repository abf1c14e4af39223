/* A share of the cgroup's limit follows that limit also in a program of one thread that only takes
 * memory: nothing is freed, so no purge epoch runs. In a simulated tree, by a clock that this test
 * sets. */
#include "limits/limit.h"
#include "include/hakmem.h"
#include "os/os.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/check.h"

enum { MIB = 1 << 20, LATER_MS = 60000 };

static uint64_t now_ms = 1;
uint64_t __wrap_hak_os_now_ms(void);
uint64_t __wrap_hak_os_now_ms(void) {
    return now_ms;
}

static char root[] = "/tmp/hakmem-limit-XXXXXX";
static const char *const files[] = {"/proc/thread-self/cgroup", "/proc/thread-self/mountinfo",
                                    "/memory.max"};
static const char *const folders[] = {"/proc/thread-self", "/proc", ""};

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s%s", root, name);
    return path;
}

static void put(const char *name, const char *content) {
    FILE *file = fopen(path_of(name), "w");
    CHECK(file && fputs(content, file) >= 0 && fclose(file) == 0);
}

static void make_tree(void) {
    CHECK(mkdtemp(root));
    CHECK(mkdir(path_of("/proc"), 0700) == 0 && mkdir(path_of("/proc/thread-self"), 0700) == 0);
    put("/proc/thread-self/cgroup", "0::/\n");
    put("/proc/thread-self/mountinfo", "31 22 0:28 / / ro - cgroup2 cgroup rw\n");
    put("/memory.max", "67108864\n");
    hak_cgroup_root = root;
}

static void remove_tree(void) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        CHECK(unlink(path_of(files[i])) == 0);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        CHECK(rmdir(path_of(folders[i])) == 0);
}

static void grants(const char *bytes) {
    put("/memory.max", bytes);
    now_ms += LATER_MS;
}

static struct rlimit usual;
static void forbid_files(void) {
    struct rlimit none = {0, usual.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
}
static void allow_files(void) {
    CHECK(setrlimit(RLIMIT_NOFILE, &usual) == 0);
}
static void hide_tree(void) {
    hak_cgroup_root = "/nowhere";
}
static void show_tree(void) {
    hak_cgroup_root = root;
}

/* No descriptor is left, or the program has changed its root: what was granted is still so. */
static void stays_unread(void (*hide)(void), void (*show)(void)) {
    CHECK(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    hide();
    now_ms += LATER_MS;
    void *block = hak_malloc(MIB);
    show();
    CHECK_THAT(!block, "a limit that cannot be read any more limits nothing");
}

/* Without a limit of the system, and while other options change. */
static void told_once(const char *share) {
    char text[512];
    int ends[2], saved = dup(STDERR_FILENO);
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    grants("max\n");
    CHECK(hak_policy_set("hard_limit", share) == 0);
    CHECK(hak_policy_set("purge_delay", "100") == 0 && hak_policy_set("purge_delay", "200") == 0);
    dup2(saved, STDERR_FILENO);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    const char *first = strstr(text, "shares of it limit nothing\n");
    CHECK_THAT(first && first[27] == '\0', "'%s' for %s", text, share);
}

int main(void) {
    char limit[] = "HAKMEM_HARD_LIMIT=50%", never[] = "HAKMEM_PURGE_DELAY=3600000";
    char *environment[] = {limit, never, NULL};
    make_tree();
    hak_policy_read(environment);
    hak_limit_update();
    CHECK(hak_malloc(20 * MIB)); /* of 32 */
    grants("33554432\n");
    CHECK_THAT(!hak_malloc(MIB), "beyond the new limit, a large block is granted");
    void *block = NULL;
    for (int i = 0; i < MIB / 1000; i++)
        block = hak_malloc(1000);
    CHECK_THAT(!block, "beyond the new limit, small blocks are granted");
    stays_unread(forbid_files, allow_files);
    stays_unread(hide_tree, show_tree);
    grants("134217728\n");
    CHECK_THAT(hak_malloc(30 * MIB), "below the new limit, a block is refused");
    told_once("60%");
    told_once("50%");
    remove_tree();
    return 0;
}
