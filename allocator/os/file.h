/* Small files, read as a whole: what an operator wrote, and what the kernel says in /proc. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads at most size - 1 bytes from `offset` on into `text` and ends it with a zero. Returns how
 * many; -1: it cannot be opened or read. errno is kept. */
HAK_COLD long hak_os_read(const char *path, size_t offset, char *text, size_t size);

/* The same from its beginning, where the file may be believed: a regular file of root's or of this
 * user's, which nobody else may write to. *why says what is wrong otherwise. */
HAK_COLD long hak_os_read_trusted(const char *path, char *text, size_t size, const char **why);
