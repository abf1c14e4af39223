/* The recorder's functions that allocate, for its callers in C and in C++. */
#ifndef PLACEMENT_RECORDER_H
#define PLACEMENT_RECORDER_H

#include <stddef.h>
#include <stdint.h>

/* Where the return address of the function that asks lies: its frame begins below. */
#define WHERE ((uintptr_t)__builtin_frame_address(0) + sizeof(void *))

void *recorder_take(size_t size, uintptr_t where);
void *recorder_take_aligned(size_t alignment, size_t size, uintptr_t where);

#endif
