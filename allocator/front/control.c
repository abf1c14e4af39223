/* Options while the program runs: hak_policy_set, hak_policy_get, mallopt. */
#include "base/libc_malloc.h"
#include "front/profile.h"
#include "include/hakmem.h"
#include "policy/policy.h"
#include "reclaim/background.h"
#include "reclaim/follow.h"
#include "reclaim/purge.h"
#include "thread/thread.h"

#include <errno.h>
#include <string.h>

/* A thread that works on its magazines alone would hear of it late. */
static void follow(void) {
    hak_follow_policy();
    hak_heap_look();
    hak_profile_adopt();
    hak_background_start(hak_purge_due);
}

HAK_EXPORT int hak_policy_set(const char *name, const char *value) {
    int error = hak_policy_change(name, value);
    if (error == 0)
        follow();
    return error;
}

HAK_EXPORT int hak_policy_get(const char *name, size_t *value) {
    enum hak_option_index option = hak_option_find(name, strlen(name));
    if (option == HAK_OPTIONS)
        return ENOENT;
    *value = *hak_policy_at(hak_policy_now(), option);
    return 0;
}

/* ---- mallopt: docs/limits.md has the table ---- */

enum { DECAY_TIME = -100, PURGE = -101, PURGE_ALL = -104 }; /* as in Android's malloc.h */

static int set_delay(unsigned long milliseconds) {
    hak_policy_change_to(HAK_OPTION_purge_delay_ms, milliseconds);
    follow();
    return 1;
}

/* glibc: -1 keeps all free memory, anything else lets it go. */
static int trim_threshold(int value) {
    unsigned long at_start = hak_policy_at_start(HAK_OPTION_purge_delay_ms);
    return set_delay(value == -1 ? HAK_PURGE_NEVER_MS : at_start);
}

/* Android: 0 gives free memory back at once, -1 never, 1 after a while. */
static int decay_time(int value) {
    if (value < -1 || value > 1)
        return 0;
    return value == 0 ? set_delay(0) : trim_threshold(value);
}

HAK_EXPORT int hak_mallopt(int parameter, int value) {
    if (parameter == M_TRIM_THRESHOLD)
        return trim_threshold(value);
    if (parameter == DECAY_TIME)
        return decay_time(value);
    if (parameter != PURGE && parameter != PURGE_ALL)
        return 0;
    hak_purge();
    return 1;
}

HAK_LIBC_NAMES(mallopt)
