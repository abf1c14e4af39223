#include "stats/stats.h"

#include "base/probe.h"

#include <errno.h>

hak_stats hak_events;

void *hak_refuse(size_t size) {
    HAK_COUNT(refusals, 1);
    HAK_PROBE(refusal, size, HAK_COUNTED(refusals));
    errno = ENOMEM;
    return NULL;
}
