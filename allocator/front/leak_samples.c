/* Every block is followed: what hangs from a block outside of the profile is no leak. Only samples
 * are told, for only of these it is known who asked for them. A block that is free in a magazine
 * counts as in use; what its last user left there may hide a leak, and never makes one. */
#include "base/classes.h"
#include "base/fatal.h"
#include "front/profile.h"
#include "include/hakmem.h"
#include "leaks/leaks.h"
#include "sampling/dump.h"
#include "sampling/sampling.h"
#include "sampling/sites.h"

static void add(const hak_slab *run, size_t index, const char *start, void *context) {
    (void)context;
    if (run->kind != HAK_RUN_SLAB)
        hak_suspects_add(start, run->large_size, 0);
    else if ((run->bitmap[index / 64] >> (index % 64) & 1) == 0)
        hak_suspects_add(start, hak_classes[run->cls].size, 0);
}

static bool is_leak(const void *block) {
    const hak_suspect *s = hak_suspects_find((uintptr_t)block);
    return s != NULL && s->start == (uintptr_t)block && s->verdict == HAK_UNREACHED;
}

static size_t tell(void) {
    uint64_t stand_for;
    size_t count = hak_sites_keep_only(is_leak, &stand_for);
    if (count == 0)
        return 0;
    hak_message("hakmem: leaks: about %zu bytes that nothing points to, by %zu sample%s", stand_for,
                count, count == 1 ? "" : "s");
    hak_profile_write_leaks();
    return count;
}

void hak_leak_samples_look(void) {
    static const hak_leaks_from from = {add, tell};
    if (!hak_leaks_wanted())
        return;
    if (!hak_sampling_ever()) {
        hak_leaks_tell_failure("there is no heap profile (HAKMEM_PROFILE_HEAP)");
        return;
    }
    hak_purge();
    hak_leaks_look(&from);
}
