/* Heap profiles as files: text that pprof reads ("heap_v2"), and `pipeline heap`. */
#pragma once

/* Writes what is known now. Returns 0 or an errno; then nothing is left at `path`. Allocates
 * nothing. Any thread, one after the other. */
int hak_profile_write(const char *path);

/* The same to the next of PREFIX.PID.NUMBER.heap, with a message where that fails. Nothing happens
 * without a prefix. */
void hak_profile_write_next(void);
void hak_profile_set_prefix(const char *prefix);

/* The same to PREFIX.PID.leaks.heap, when the samples that live are leaks. */
void hak_profile_write_leaks(void);

void hak_profile_after_fork_in_child(void);
