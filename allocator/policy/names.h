/* Names that nobody reads, and which one may have been meant. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether something reads a variable of this name: this library, another variant of it, a tool. */
HAK_COLD bool hak_name_is_known(const char *name, size_t length);

/* The option whose name looks most like it; NULL: none looks like it. `skip` bytes at the beginning
 * of each option's name are left out: then options that are no numbers do not count. */
HAK_COLD const char *hak_name_nearest(const char *name, size_t length, size_t skip);
