/* A program that is linked statically as a whole and asks for statistics, but never for a block
 * itself: libc's own blocks come from the library all the same, for half of the family from here
 * and half from libc would not link. */
#include <malloc.h>
#include <string.h>

#include "../support/check.h"
#include "hakmem.h"

enum { ANDROIDS_PURGE = -101 };

static char text[1 << 20];

int main(void) {
    size_t length = hak_stats_json(text, sizeof text);
    CHECK(length > 0 && length < sizeof text && strstr(text, "\"build\"") != NULL);
    CHECK(mallopt(ANDROIDS_PURGE, 0) == 1);
    return 0;
}
