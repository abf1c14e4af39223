/* Arming: a way to be called again from a hot path that never asks.
 *
 * A program that settles into mallocs and frees which its magazines can serve never visits the slow
 * paths, and dirty pages would wait for ever. An armed magazine looks empty to malloc and full to
 * free, so the next operation on its class comes to the slow path, which puts the real one back:
 *
 *   top, end -> | NULL |        held_top -> the real top of the magazine
 *
 * What this costs is bounded. All magazines are armed when the slow paths have not been visited for
 * a while, and at most once in a window of time otherwise; a magazine that is hit is armed again
 * only a few times within a tick of the clock. So a thread that allocates a little at a time stays
 * armed, and one that allocates in a tight loop is soon left alone. */
#ifndef HAK_COLD_ARM_H
#define HAK_COLD_ARM_H

#include "base/types.h"

/* The slot of magazines that can neither give nor take. Always NULL. */
extern HAK_HIDDEN void *const hak_nothing[1];

/* Arms all magazines of the heap when a new window begins, else that of `cls` if it may be; `now`
 * in milliseconds. By the owner. */
void hak_arm(hak_heap *heap, unsigned cls, uint64_t now);

/* Puts the real magazine of a class back; nothing happens when it is not armed. By the owner. */
void hak_disarm(hak_heap *heap, unsigned cls);

bool hak_is_armed(const hak_heap *heap, unsigned cls);

#endif
