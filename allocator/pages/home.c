#include "pages/home.h"

#include "pages/range.h"

static size_t ranges[HAK_HOMES]; /* 0: none of its own */
static bool refused;             /* once; further homes would be, too */

size_t hak_home_range(unsigned home) {
    return ranges[home];
}

hak_range *hak_home_settle(unsigned home) {
    bool is_first = home <= HAK_FIRST_HOME || hak_range_count() == 0;
    if (!is_first && ranges[home] == 0 && !refused) {
        refused = hak_range_add(1) == NULL;
        ranges[home] = refused ? 0 : hak_range_count() - 1;
    }
    return ranges[home] != 0 ? &hak_ranges[ranges[home]] : NULL;
}
