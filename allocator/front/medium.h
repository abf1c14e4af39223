/* Where malloc goes with more than HAK_SMALL_MAX bytes: classes of medium blocks, and large ones.
 */
#pragma once

#include "base/attributes.h"

#include <stddef.h>

/* As malloc; size > HAK_SMALL_MAX. */
HAK_HIDDEN void *hak_malloc_medium(size_t size);
