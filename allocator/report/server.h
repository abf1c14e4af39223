/* Answers what the library knows of itself to whoever may open a Unix socket: with the consent of
 * HAKMEM_STATS_SOCKET alone. HTTP/1.0, one client after the other, each for a second at most. */
#pragma once

#include <stddef.h>

/* Fills a buffer as snprintf does. */
typedef size_t hak_fill(char *buffer, size_t size);

/* Starts the thread that answers /metrics (and /) and /json by these, if `environment` has the
 * variable and may be believed; else nothing happens. At load; calls malloc. */
void hak_server_start(char *const environment[], hak_fill *prometheus, hak_fill *json);
