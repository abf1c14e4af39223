/* The trace format, version 2. docs/trace-format.md explains it; this is the only definition.
 *
 *   file    = section, section, ...            one per process; `cat a b > c` is a trace too
 *   section = header (4096 bytes), blocks      blocks begin at multiples of 64, zeros in between
 *   block   = header (64 bytes), records       of one thread, in its order
 *
 * A block is self-contained: stamps and addresses in it are differences from its header. It is open
 * while its thread writes (length 0: read up to the first zero tag) and sealed afterwards (length
 * and checksum). All numbers are little-endian. */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRACE_INLINE static inline __attribute__((always_inline))
#define TRACE_MAGIC "HAKTRACE"

enum {
    TRACE_VERSION = 2,
    TRACE_VERSION_OLDEST = 1, /* that is read */
    TRACE_SECTION_BYTES = 4096,
    TRACE_BLOCK_ALIGN = 64,
    TRACE_LENGTH_MAX = 64 << 10, /* no block is longer: readers look at it before they sum it up */
    TRACE_BLOCK_MAGIC = 0x424b4148, /* "HAKB" */
    TRACE_COMMAND_BYTES = 2048,
    TRACE_RECORD_MAX = 48,       /* no record is longer, with room for the stores of 8 bytes */
    TRACE_RECORD_TYPICAL = 4,    /* bytes; measured on programs of all kinds */
    TRACE_THREADS_MAX = 1 << 22, /* thread numbers stay below */
    TRACE_BATCH = 64,            /* stamps */
};

/* Flags of a section. */
enum {
    TRACE_SITES = 1,   /* records carry the hash of their call site */
    TRACE_RING = 2,    /* the oldest chunks were written over: gaps in the stamps are expected */
    TRACE_DERIVED = 4, /* cut, merged or anonymised: addresses are object numbers */
    TRACE_BATCHES = 8, /* stamps come in batches; else there are no gaps between them */
};

typedef enum trace_kind {
    TRACE_MALLOC = 1,
    TRACE_CALLOC = 2,
    TRACE_ALIGNED = 3, /* memalign and its relatives */
    TRACE_FREE = 4,
    TRACE_REALLOC = 5, /* the block stayed where it was */
    TRACE_MOVE = 6,    /* realloc to another address: two stamps, around the call */
    TRACE_END = 7,     /* the thread ends */
} trace_kind;

typedef struct trace_section {
    char magic[8];
    uint32_t version;
    uint32_t flags;
    uint64_t sample; /* one of so many addresses was recorded; 1: all */
    uint64_t pid;
    uint64_t parent;
    uint64_t started_ns; /* CLOCK_REALTIME */
    uint64_t check;      /* trace_sum of all fields above and of the command */
    /* Totals. They grow when blocks are sealed, so a killed process lacks its last ones. */
    uint64_t events;
    uint64_t lost;        /* events for which there was no room on disk */
    uint64_t left_out;    /* events of addresses that were not sampled */
    uint64_t recorder_ns; /* time spent recording: events times what one costs, and the calls */
    uint64_t run_ns;      /* wall and processor time from the first event to the end */
    uint64_t cpu_ns;
    uint64_t closed;                   /* 1: the process ended by itself */
    char command[TRACE_COMMAND_BYTES]; /* arguments, each ended by a zero byte */
    uint64_t last_stamp;               /* at the exit; 0: as many as events */
} trace_section;

typedef struct trace_block {
    uint32_t magic;
    uint32_t thread;  /* number of the thread in this section, from 0 */
    uint64_t stamp;   /* the first record's stamp is above this */
    uint64_t address; /* the first record's address is a difference from this */
    uint64_t time_ns; /* since the section started */
    uint64_t check;   /* trace_sum of the four fields above */
    uint64_t length;  /* bytes of records; 0 while open */
    uint64_t sum;     /* trace_sum of the records, when sealed */
    uint64_t events;  /* records, when sealed */
} trace_block;

_Static_assert(sizeof(trace_section) <= TRACE_SECTION_BYTES, "a section header is one page");
_Static_assert(sizeof(trace_block) == TRACE_BLOCK_ALIGN, "blocks follow each other without holes");

/* Any change of a single word changes the sum: the factors are odd. Bytes beyond the length count
 * as zero. */
TRACE_INLINE uint64_t trace_sum(const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    uint64_t sum = length * 0x9E3779B97F4A7C15u, factor = 0xD6E8FEB86659FD93u, word;
    for (; length >= 8; at += 8, length -= 8, factor += 0x9E3779B97F4A7C16u) {
        memcpy(&word, at, 8);
        sum += word * factor;
    }
    word = 0;
    memcpy(&word, at, length);
    return sum + word * factor;
}

TRACE_INLINE uint64_t trace_block_check(const trace_block *block) {
    return trace_sum(block, offsetof(trace_block, check));
}

TRACE_INLINE uint64_t trace_section_check(const trace_section *section) {
    return trace_sum(section, offsetof(trace_section, check)) +
           3 * trace_sum(section->command, sizeof section->command);
}

#endif
