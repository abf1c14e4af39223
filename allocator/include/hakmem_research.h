/* What research builds of hakmem (HAKMEM_VARIANT=research) export in addition to hakmem.h. */
#ifndef HAKMEM_RESEARCH_H
#define HAKMEM_RESEARCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happened to a size class, in all threads since the program's start. */
typedef struct hak_class_counters {
    uint64_t size;     /* bytes of a block; 0: the class of everything that has none */
    uint64_t pop;      /* malloc served by a thread's magazine */
    uint64_t push;     /* free served by it */
    uint64_t fallback; /* malloc that came to the slow path */
    uint64_t refill;   /* batches of blocks taken from slabs */
    uint64_t retire;   /* free that came to the slow path */
    uint64_t remote;   /* blocks handed back to the thread that owns them */
} hak_class_counters;

/* Classes count from 0. Returns 0 when there is no such class; approximate while other threads
 * allocate. */
int hak_get_class_counters(unsigned cls, hak_class_counters *counters);

/* 1 when HAKMEM_FORCE_LIBC=1 sends the calls to libc. */
int hak_libc_is_forced(void);

#ifdef __cplusplus
}
#endif
#endif
