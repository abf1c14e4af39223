/* Every block is followed, so that what hangs from one that no profile knows is found. Only samples
 * are told: of these it is known who asked for them. A block that is free in a magazine counts as
 * one in use; what lies there of its last user may hold a leak, and never makes one. */
#include "base/classes.h"
#include "base/fatal.h"
#include "front/profile.h"
#include "include/hakmem.h"
#include "leaks/blocks.h"
#include "leaks/leaks.h"
#include "os/lock.h"
#include "pages/apart.h"
#include "sampling/dump.h"
#include "sampling/sampling.h"
#include "sampling/sites.h"

static bool is_free(const hak_slab *slab, size_t index) {
    return (slab->bitmap[index / 64] >> (index % 64) & 1) != 0;
}

static void add_slab(const hak_slab *slab) {
    size_t size = hak_classes[slab->cls].size, blocks = hak_blocks_carved(slab);
    for (size_t i = 0; i < blocks; i++)
        if (!is_free(slab, i))
            hak_suspects_add((const void *)(slab->start + i * size), size, 0);
}

static void add_run(const hak_slab *run) {
    if (run->kind == HAK_RUN_SLAB)
        add_slab(run);
    else
        hak_suspects_add((const void *)run->start, run->large_size, 0);
}

static void add_apart(const void *block, size_t size) {
    hak_suspects_add(block, size, 0);
}

static size_t most(void) {
    size_t bytes;
    return hak_blocks_most() + hak_apart_count(&bytes);
}

static void add_all(void) {
    hak_blocks_each_run(add_run);
    hak_apart_each(add_apart);
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

/* A signal handler that calls exit may have interrupted this thread while it held a lock. */
void hak_leak_samples_look(void) {
    static const hak_leaks_from from = {most, add_all, tell};
    if (!hak_leaks_wanted() || hak_locks_held != 0)
        return;
    if (!hak_sampling_ever()) {
        hak_leaks_tell_failure("there is no heap profile (HAKMEM_PROFILE_HEAP)");
        return;
    }
    hak_purge();
    HAK_RACING_READS_BEGIN();
    hak_leaks_look(&from);
    HAK_RACING_READS_END();
}
