/* Walks of a stack along frames whose sizes are known from earlier walks.
 *
 * libc's unwinder reads tables of each frame, cold as they are: some 20 us for 20 frames. But where
 * a frame is found by the stack pointer, its size follows from the address that it goes on at. So
 * the unwinder's steps are kept, and most samples need one read for each frame:
 *
 *   sp ->  | locals of f          | goes on in g |  locals of g   | goes on in main | ...
 *          |<- size of f, known by where f is -->|<---- size of g, by where g is --->|
 *
 * A frame with a frame pointer may have another size each time. Its size is known for one place on
 * the stack and one address behind it alone. */
#pragma once

#include "base/attributes.h"

#include <stdint.h>

/* Looks the unwinder up, once it is loaded: `find` is dlsym. Where it is not found, and on other
 * processors than x86-64, there are no such walks. Once. */
void hak_os_walk_start(void *(*find)(void *handle, const char *name));

/* Return addresses of at most `most` frames, the innermost first: from the one that goes on at `at`
 * with the stack pointer `sp`, which called this. 0: there are no such walks. Any thread; not from
 * within the unwinder. */
unsigned hak_os_walk(void **frames, unsigned most, const void *at, const void *sp);
