/* A folder that a test has made for files of its own. */
#ifndef HAKMEM_TESTS_FOLDER_H
#define HAKMEM_TESTS_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"

/* Removes it with its files, but no folder in it. */
static inline void remove_folder(const char *folder) {
    char path[400];
    DIR *all = opendir(folder);
    CHECK(all);
    for (struct dirent *one; (one = readdir(all));) {
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        unlink(path);
    }
    closedir(all);
    CHECK(rmdir(folder) == 0);
}

#endif
