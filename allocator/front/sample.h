/* Samples of a heap profile: blocks whose free comes to the slow path, which tells the sites.
 *
 * One of up to 16 KiB lies in a slab of a cold class. In a process that makes a heap profile those
 * classes have magazines without slots, so each free of such a block comes to hak_retire. Many
 * samples share a page, and none takes room among other blocks. A longer one is a large block.
 *
 * Programs that have asked for cold blocks themselves have slots for them. There all samples are
 * large blocks. And a process that ever made a heap profile hands out no cold blocks any more. */
#pragma once

#include "base/classes.h"
#include "base/types.h"
#include "sampling/sampling.h"

/* A block for a heap profile: `size` is at most HAK_MEDIUM_MAX and counted already. NULL: out of
 * memory. Any thread. */
HAK_COLD void *hak_sample_take(size_t size);

/* Whether a block of this class may be a sample, whose end the sites must hear of. */
HAK_INLINE bool hak_sample_may_be(unsigned cls) {
    return HAK_UNLIKELY(hak_class_is_cold(cls)) && hak_sampling_ever();
}

/* Whether the program may have a cold block. False: from now on it gets none. */
HAK_COLD bool hak_sample_lets_hint(void);
