/* Writing one record. A record is
 *
 *   tag      bits 0-2 kind, bit 3 a stamp follows, bits 4-5 width of the address, 6-7 of the size
 *   stamp    LEB128 of (stamp - previous - 1), if it is not 0
 *   address  zigzag of (address - previous) / 8
 *   size     of all kinds but FREE and END
 *   ALIGNED: one byte, log2 of the alignment
 *   MOVE:    a second tag (bit 3, bits 4-5), stamp and address: where the block went
 *   site     three bytes, if the section has sites and the record has a size
 *
 * Widths 0..3 mean 1, 2, 3 and 6 bytes. FREE with size width 1 is free(NULL), without an address.
 *
 * The tag is stored last: a record that a kill interrupts is not there at all. */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include "format.h"

typedef struct trace_encoder {
    unsigned char *at;
    uint64_t stamp, address; /* of the record before */
} trace_encoder;

enum { TRACE_STAMP_BIT = 8, TRACE_ADDRESS_SHIFT = 4, TRACE_SIZE_SHIFT = 6, TRACE_NULL = 1 };

/* For values whose highest byte is number 0, 1, ...: the width, and how many bytes that means. */
#define TRACE_WIDTHS 0x3636363636231201u

TRACE_INLINE unsigned trace_width_bytes(unsigned width) {
    return (unsigned)(0x6321 >> (4 * width)) & 15;
}

/* The bytes above the width are zeros, like the memory that they fall on. */
TRACE_INLINE unsigned trace_put(trace_encoder *to, uint64_t value) {
    unsigned highest_bit = 63 ^ (unsigned)__builtin_clzll(value | 1);
    unsigned found = TRACE_WIDTHS >> (highest_bit & 0x38) & 0xff;
    memcpy(to->at, &value, 8);
    to->at += found & 15;
    return found >> 4;
}

TRACE_INLINE unsigned trace_put_address(trace_encoder *to, uint64_t address) {
    int64_t step = (int64_t)((address - to->address) << 13) >> 16; /* 48 bits of an eighth */
    to->address = address;
    return trace_put(to, ((uint64_t)step << 1) ^ (uint64_t)(step >> 63)) << TRACE_ADDRESS_SHIFT;
}

TRACE_INLINE unsigned trace_put_stamp(trace_encoder *to, uint64_t stamp) {
    uint64_t step = stamp - to->stamp - 1;
    to->stamp = stamp;
    if (__builtin_expect(step == 0, 1))
        return 0;
    for (; step > 0x7f; step >>= 7)
        *to->at++ = (unsigned char)(step | 0x80);
    *to->at++ = (unsigned char)step;
    return TRACE_STAMP_BIT;
}

TRACE_INLINE void trace_put_site(trace_encoder *to, const uint32_t *site) {
    if (site == NULL)
        return;
    memcpy(to->at, site, 3);
    to->at += 3;
}

TRACE_INLINE void trace_finish(unsigned char *tag, unsigned bits) {
    __asm__ volatile("" : : : "memory"); /* the rest of the record first */
    *(volatile unsigned char *)tag = (unsigned char)bits;
}

/* MALLOC, CALLOC, ALIGNED (with align, log2) and REALLOC. site is NULL in a section without.
 *
 * The encoder is copied while it works: stores of bytes might change it in memory, for all that the
 * compiler knows, and it would be written and read again after each. */
TRACE_INLINE void trace_encode_block(trace_encoder *encoder, trace_kind kind, uint64_t stamp,
                                     uint64_t address, uint64_t size, unsigned align,
                                     const uint32_t *site) {
    trace_encoder to = *encoder;
    unsigned char *tag = to.at++;
    unsigned bits = kind | trace_put_stamp(&to, stamp);
    bits |= trace_put_address(&to, address);
    bits |= trace_put(&to, size) << TRACE_SIZE_SHIFT;
    if (kind == TRACE_ALIGNED)
        *to.at++ = (unsigned char)align;
    trace_put_site(&to, site);
    *encoder = to;
    trace_finish(tag, bits);
}

TRACE_INLINE void trace_encode_free(trace_encoder *encoder, uint64_t stamp, uint64_t address) {
    trace_encoder to = *encoder;
    unsigned char *tag = to.at++;
    unsigned bits = TRACE_FREE | trace_put_stamp(&to, stamp);
    bits |= address ? trace_put_address(&to, address) : TRACE_NULL << TRACE_SIZE_SHIFT;
    *encoder = to;
    trace_finish(tag, bits);
}

TRACE_INLINE void trace_encode_end(trace_encoder *to, uint64_t stamp) {
    unsigned char *tag = to->at++;
    trace_finish(tag, TRACE_END | trace_put_stamp(to, stamp));
}

/* A realloc that moved: left at `before`, was there again at `after`. */
TRACE_INLINE void trace_encode_move(trace_encoder *to, uint64_t before, uint64_t from,
                                    uint64_t after, uint64_t address, uint64_t size,
                                    const uint32_t *site) {
    unsigned char *tag = to->at++;
    unsigned bits = TRACE_MOVE | trace_put_stamp(to, before);
    bits |= trace_put_address(to, from);
    bits |= trace_put(to, size) << TRACE_SIZE_SHIFT;
    unsigned char *second = to->at++;
    unsigned there = trace_put_stamp(to, after);
    there |= trace_put_address(to, address);
    *second = (unsigned char)there;
    trace_put_site(to, site);
    trace_finish(tag, bits);
}

#endif
