/* Small files: what an operator wrote, and what the kernel says in /proc. errno is kept. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

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
