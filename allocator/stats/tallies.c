#include "base/geometry.h"
#include "stats/stats.h"

/* Several threads may end at the same time. */
typedef struct kept_tally {
#define HAK_TALLY_KEPT(name) _Atomic uint64_t name;
    HAK_TALLIES(HAK_TALLY_KEPT)
#undef HAK_TALLY_KEPT
} kept_tally;

static kept_tally kept[HAK_CLASSES];

void hak_tallies_keep(const hak_tally *tallies) {
    for (unsigned cls = 0; cls < HAK_CLASSES; cls++) {
#define HAK_TALLY_KEEP(name)                                                                       \
    atomic_fetch_add_explicit(&kept[cls].name, tallies[cls].name, memory_order_relaxed);
        HAK_TALLIES(HAK_TALLY_KEEP)
#undef HAK_TALLY_KEEP
    }
}

hak_tally hak_tallies_kept(unsigned cls) {
    hak_tally sum;
#define HAK_TALLY_READ(name) sum.name = atomic_load_explicit(&kept[cls].name, memory_order_relaxed);
    HAK_TALLIES(HAK_TALLY_READ)
#undef HAK_TALLY_READ
    return sum;
}
