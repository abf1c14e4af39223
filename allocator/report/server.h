/* Tells whoever may open a Unix socket what the library knows of itself: with the consent of
 * HAKMEM_STATS_SOCKET alone. HTTP/1.0, one client after the other, each for a second at most. */
#pragma once

#include "report/answers.h"

/* Starts the thread that answers (report/answers.h), with these for the statistics, if
 * `environment` has the variable and may be believed; else nothing happens. At load; calls malloc.
 */
void hak_server_start(char *const environment[], hak_fill *prometheus, hak_fill *json);

/* In a forked child the thread starts later, if the path has %p: most children exec or end at once.
 * Until then heaps are told that something has changed (sampling/sampling.h), so mallocs come by
 * here. Frees do not: libc frees under the lock that pthread_create wants. Starts it when its time
 * has come and nothing makes it unsafe. On a slow path, under no lock; it may allocate. */
void hak_server_look(void);
