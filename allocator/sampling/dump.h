/* Heap profiles as files: text that pprof reads ("heap_v2"), and `pipeline heap`. */
#pragma once

#include <stddef.h>

/* Writes what is known now. Returns 0 or an errno; then nothing is left at `path`. Allocates
 * nothing. Any thread, one after the other. */
int hak_profile_write(const char *path);

/* Fills a buffer with the same as snprintf does. 0: no profile was ever begun, or the system does
 * not say where the libraries lie. Any thread. */
size_t hak_profile_text(char *buffer, size_t size);

/* The same to the next of PREFIX.PID.NUMBER.heap, with a message where that fails. Nothing happens
 * without a prefix. */
void hak_profile_write_next(void);
void hak_profile_set_prefix(const char *prefix);

/* The same to PREFIX.PID.leaks.heap, when the samples that live are leaks. */
void hak_profile_write_leaks(void);

void hak_profile_after_fork_in_child(void);
