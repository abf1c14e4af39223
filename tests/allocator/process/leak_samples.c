/* HAKMEM_LEAKS with a heap profile: samples that nothing points to when the program ends stand in a
 * profile of their own. The program starts itself again for each case; nearly each of its blocks is
 * a sample. */
#include <dirent.h>
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
#include "../support/threads.h"

enum { SIZE = 3000, MANY = 500, CODE = 42, OWN_CODE = 3, MIB = 1 << 20, PATH = 512 };

typedef struct node {
    struct node *volatile next;
    char rest[SIZE - sizeof(void *)];
} node;

static node *volatile global;
static char folder[] = "/tmp/hakmem-leaks-XXXXXX";

static node *new_list(size_t length) {
    node *list = NULL;
    for (size_t i = 0; i < length; i++) {
        node *made = malloc(sizeof *made);
        made->next = list;
        list = made;
    }
    return list;
}

static void forget_list(void) {
    node *volatile list = new_list(MANY);
    list->rest[0] = 1;
}
static void forget_large(void) {
    char *volatile block = malloc(3 * MIB);
    block[0] = 1;
}
static void forget_apart(void) {
    char *volatile block = malloc((size_t)2048 * MIB);
    block[0] = 1;
}
static void hold_list(void) {
    global = new_list(MANY);
}
static void hold_apart(void) {
    global = malloc((size_t)2048 * MIB);
}
static void free_list(void) {
    node *list = new_list(MANY);
    for (node *next; list != NULL; list = next) {
        next = list->next;
        free(list);
    }
}

static const struct test {
    const char *name;
    void (*act)(void);
    int samples; /* at least 9 of 10 are */
} cases[] = {
    {"list", forget_list, MANY}, {"large", forget_large, 1}, {"apart", forget_apart, 1},
    {"held", hold_list, 0},      {"far", hold_apart, 0},     {"freed", free_list, 0},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static int act(const char *name, int code) {
    for (int i = 0; i < CASES; i++)
        if (strcmp(name, cases[i].name) == 0)
            far_down(cases[i].act, 20);
    return code;
}

/* ---- runs ---- */

static char text[1 << 14];

/* Takes each file away; the live samples of the one that has the leaks, -1: there is none. */
static long live_in_files(void) {
    char path[PATH];
    long live = -1;
    DIR *all = opendir(folder);
    CHECK(all);
    for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "r");
        CHECK(file);
        if (strstr(entry->d_name, ".leaks.heap"))
            CHECK(fscanf(file, "heap profile: %ld:", &live) == 1);
        fclose(file);
        unlink(path);
    }
    closedir(all);
    return live;
}

static int run(const char *name, const char *leaks, const char *code) {
    setenv("HAKMEM_LEAKS", leaks, 1);
    char *arguments[] = {"leak_samples", (char *)name, (char *)code, NULL};
    int status = run_again(arguments, STDERR_FILENO, text, sizeof text);
    CHECK_THAT(WIFEXITED(status), "%s: wait status %d:\n%s", name, status, text);
    return WEXITSTATUS(status);
}

/* Half a word that was left on the stack may be an address in a block of gigabytes. */
static void check_case(const struct test *t) {
    int code = 0, tries = t->act == forget_apart ? 50 : 1;
    long live = -1;
    while (tries-- != 0 && live == -1) {
        code = run(t->name, "1", "0");
        live = live_in_files();
    }
    bool told = strstr(text, "hakmem: leaks: ") != NULL;
    CHECK_THAT(code == 0, "%s: exit code %d:\n%s", t->name, code, text);
    if (t->samples == 0)
        CHECK_THAT(live == -1 && !told, "%s: no leak, but %ld samples:\n%s", t->name, live, text);
    else
        CHECK_THAT(told && live >= (t->samples * 9 + 9) / 10 && live <= t->samples,
                   "%s: %ld samples of %d:\n%s", t->name, live, t->samples, text);
}

static void check_code(const char *name, const char *leaks, const char *own, int expected) {
    int code = run(name, leaks, own);
    live_in_files();
    CHECK_THAT(code == expected, "%s, HAKMEM_LEAKS=%s: exit code %d, not %d", name, leaks, code,
               expected);
}

/* Children, not this program, make profiles. */
int main(int count, char **arguments) {
    char prefix[PATH];
    if (count == 3)
        return act(arguments[1], atoi(arguments[2]));
    hang_limit();
    int (*start)(size_t) = (int (*)(size_t))dlsym(RTLD_DEFAULT, "hak_profile_start");
    CHECK(start);
    if (start(1) == ENOTSUP)
        return SKIPPED;
    CHECK(mkdtemp(folder));
    CHECK(run("list", "1", "0") == 0 && strstr(text, "there is no heap profile"));
    snprintf(prefix, sizeof prefix, "%s/test", folder);
    setenv("HAKMEM_PROFILE_HEAP", prefix, 1);
    setenv("HAKMEM_PROFILE_RATE", "1", 1);
    for (int i = 0; i < CASES; i++)
        check_case(&cases[i]);
    check_code("list", "42", "0", CODE);
    check_code("list", "42", "3", OWN_CODE);
    check_code("list", "1", "0", 0);
    check_code("held", "42", "0", 0);
    rmdir(folder);
    return 0;
}
