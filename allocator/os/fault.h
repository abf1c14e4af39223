/* Memory that faults on purpose, and who looks at faults. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/* Places that fault at a time, at most. Each is two mappings, of which the system allows 65,530:
 * the rest is for the program. */
enum { HAK_MOST_WALLS = 24000 };

/* Every access to the memory faults from now on, or no more. Preconditions as in os/os.h. False:
 * refused, and nothing happened. errno is kept. */
bool hak_os_protect(void *start, size_t size);
bool hak_os_unprotect(void *start, size_t size);

/* Lets `explain` look at the address of each fault first. When it returns, the handler that the
 * program had until now comes next; where there is none the program ends as it would have done.
 * Once. A handler that the program sets up later takes the place of both. */
void hak_os_watch_faults(void (*explain)(const void *address));
