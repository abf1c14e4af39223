/* A file that is written in one go: private, and under its name only when it is whole. */
#pragma once

#include "base/text.h"

#include <limits.h>
#include <stdbool.h>

typedef struct hak_out {
    hak_text text;   /* what is added to it goes to the file; first, to find the rest by it */
    int file, error; /* error: the first errno, or 0 */
    const char *path;
    char part[PATH_MAX], buffer[4096];
} hak_out;

/* Opens a file beside `path`, which is kept, that nobody else may read. False: `error` says why.
 * One thread. */
bool hak_out_open(hak_out *out, const char *path);
/* Adds the contents of a file of the system. */
void hak_out_copy(hak_out *out, const char *path);
/* Gives the file its name. Returns 0 or the first error; then there is no file. */
int hak_out_close(hak_out *out);
