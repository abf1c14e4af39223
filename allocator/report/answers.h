/* What the library answers to a client of its socket, in HTTP/1.0:
 *
 *   GET    /metrics, /   what it holds, for Prometheus
 *   GET    /json         the same as JSON
 *   GET    /heap         the heap profile; 409: none was begun
 *   POST   /heap         begins one
 *   DELETE /heap         ends it
 *   POST   /options      reads the file of HAKMEM_CONF again; 409: none, 422: not all of it counts
 *
 * HEAD is GET without the body. What begins or changes something is no GET, and has a sentence as
 * its answer. */
#pragma once

#include "os/socket.h"

/* Fills a buffer as snprintf does. 0: there is nothing to say. */
typedef size_t hak_fill(char *buffer, size_t size);

/* Which functions say what the library holds. Once, before the first client. */
void hak_answers_are(hak_fill *prometheus, hak_fill *json);

/* Reads one request and answers it, for a second at most. By a thread that the program does not
 * know; the client stays open. */
void hak_answer(hak_socket client);
