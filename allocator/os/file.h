/* Small files: what an operator wrote, and what the kernel says in /proc. errno is kept. */
#pragma once

#include "base/text.h"

#include <limits.h>
#include <stdbool.h>

/* Reads at most size - 1 bytes into `text` and ends it with a zero. Returns how many; -1: it cannot
 * be opened or read. */
HAK_COLD long hak_os_read(const char *path, char *text, size_t size);

/* The same where the file may be believed: a regular file of root's or of this user's, which nobody
 * else may write to. *why says what is wrong otherwise. */
HAK_COLD long hak_os_read_trusted(const char *path, char *text, size_t size, const char **why);

/* Calls `each` for the lines of a file, one after the other; of long ones for the first 1,023
 * bytes. False: it cannot be read. */
bool hak_os_each_line(const char *path, void (*each)(const char *line, void *context),
                      void *context);

/* Adds the contents of a file of the system to a text. False, and errno: it cannot be read to its
 * end. */
bool hak_os_add_file(hak_text *text, const char *path);

/* Why a file cannot be made or written, as the end of a sentence. */
const char *hak_os_reason(int error);

/* ---- a file that is written in one go: private, and under its name only when it is whole ---- */

typedef struct hak_out {
    hak_text text;   /* what is added to it goes to the file; first, to find the rest by it */
    int file, error; /* error: the first errno, or 0 */
    const char *path;
    char part[PATH_MAX], buffer[4096];
} hak_out;

/* The errno with which the system would refuse a new file at an absolute path just now, by its
 * folder; or 0. */
int hak_out_try(const char *path);
/* Opens a file beside `path`, which is kept, that nobody else may read, in place of one that a
 * process of this user has left unfinished. False: `error` says why. One thread. */
bool hak_out_open(hak_out *out, const char *path);
/* Something that belongs into the file could not be found out, as errno says: there will be none.
 */
void hak_out_fail(hak_out *out);
/* Gives the file its name. Returns 0 or the first error; then there is no file. */
int hak_out_close(hak_out *out);
