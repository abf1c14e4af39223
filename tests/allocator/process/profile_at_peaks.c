/* Heap profiles at new peaks (HAKMEM_PROFILE_PEAK=25, HAKMEM_PROFILE_RATE=4096): one for each
 * quarter that live memory grows by, none while it stays below. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/folder.h"
#include "../support/threads.h"

enum { MANY = 40000, SIZE = 500 };

static char folder[] = "/tmp/hakmem-peaks-XXXXXX";
static void *blocks[MANY];

static int profiles(const char *where) {
    int count = 0;
    DIR *all = opendir(where);
    CHECK(all);
    for (struct dirent *one; (one = readdir(all));)
        count += strstr(one->d_name, ".heap") != NULL;
    closedir(all);
    return count;
}

static void grow_to(int count) {
    for (int i = 0; i < count; i++) {
        blocks[i] = malloc(SIZE);
        CHECK(blocks[i]);
    }
}

static void shrink(int count) {
    for (int i = 0; i < count; i++)
        free(blocks[i]);
}

/* The first peak is at 64 samples, 256 KiB; 20 MB are 76 times as much, which is 1.25 to the power
 * of 19.4. A step is a little more than a quarter, and the last one may be just ahead. What is due
 * is written at the next malloc. Chance does not break the bounds: 4,597 samples are expected, and
 * it would take fewer than 1,260 or more than 6,900. */
static void check_peaks(const char *where) {
    grow_to(MANY);
    shrink(MANY);
    grow_to(1);
    shrink(1);
    int first = profiles(where);
    CHECK_THAT(first >= 14 && first <= 21, "%d profiles while memory grew", first);
    grow_to(MANY / 2);
    CHECK_THAT(profiles(where) == first, "%d profiles below the peak", profiles(where) - first);
    shrink(MANY / 2);
}

/* The program again, with files in a folder of its own. */
static void run_in(char *where) {
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s/p", where);
    setenv("HAKMEM_PROFILE_HEAP", prefix, 1);
    child_must_succeed(start_again((char *[]){"profile_at_peaks", where, NULL}));
}

int main(int count, char **arguments) {
    int (*start)(size_t) = (int (*)(size_t))dlsym(RTLD_DEFAULT, "hak_profile_start");
    CHECK(start);
    if (count == 2) {
        check_peaks(arguments[1]);
        return 0;
    }
    if (start(4096) == ENOTSUP)
        return SKIPPED;
    CHECK(mkdtemp(folder));
    run_in(folder);
    remove_folder(folder);
    return 0;
}
