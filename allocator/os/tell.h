/* What the library tells the person who runs a program. */
#pragma once

#include "base/attributes.h"

/* Writes "hakmem: process <number>: " and a line (base/text.h) to stderr: each worker of a server
 * tells of itself. Any thread. */
HAK_FORMAT(1) HAK_COLD void hak_tell(const char *format, ...);
