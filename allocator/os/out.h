/* A file that is written in one go: private, and under its name only when it is whole. */
#pragma once

#include "base/attributes.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hak_out {
    int file, error; /* error: the first errno, or 0 */
    size_t used;
    char path[PATH_MAX], part[PATH_MAX];
    char buffer[4096];
} hak_out;

/* Opens a file beside `path` that nobody else may read. False: `error` says why. One thread. */
bool hak_out_open(hak_out *out, const char *path);
void hak_out_text(hak_out *out, const char *text);
void hak_out_number(hak_out *out, uint64_t value);
void hak_out_address(hak_out *out, const void *address);
/* The contents of a file of the system. */
void hak_out_copy(hak_out *out, const char *path);
/* Gives the file its name. Returns 0 or the first error; then there is no file. */
int hak_out_close(hak_out *out);
