/* Another exit code for a process that is ending already. */
#pragma once

#include "base/attributes.h"

/* In a destructor of the library. What else runs at the end runs, files are flushed, and then the
 * process ends with `code` instead of 0; a code of the program's own that is not 0 stays. Where
 * libc cannot do that (musl), the process ends at once with `code`, its files flushed. */
void hak_os_exit_with(int code);
