#include "pattern.h"

#include <string.h>

enum { MARKED_END = 256, MARK_STEP = 1024 };

static uint64_t word_at(uint64_t seed, size_t offset) {
    uint64_t word = (seed + 1) * 0x9E3779B97F4A7C15u + offset * 0xD6E8FEB86659FD93u;
    return word ^ (word >> 29);
}

void pattern_fill(void *block, size_t size, uint64_t seed) {
    unsigned char *bytes = block;
    for (size_t offset = 0; offset < size; offset += sizeof(uint64_t)) {
        uint64_t word = word_at(seed, offset);
        size_t left = size - offset;
        memcpy(bytes + offset, &word, left < sizeof word ? left : sizeof word);
    }
}

bool pattern_holds(const void *block, size_t size, uint64_t seed) {
    const unsigned char *bytes = block;
    for (size_t offset = 0; offset < size; offset += sizeof(uint64_t)) {
        uint64_t word = word_at(seed, offset);
        size_t left = size - offset;
        if (memcmp(bytes + offset, &word, left < sizeof word ? left : sizeof word) != 0)
            return false;
    }
    return true;
}

void pattern_mark(void *block, size_t size, uint64_t seed) {
    if (size <= (size_t)4 * MARKED_END) {
        pattern_fill(block, size, seed);
        return;
    }
    unsigned char *bytes = block;
    pattern_fill(bytes, MARKED_END, seed);
    for (size_t offset = MARK_STEP; offset < size - MARKED_END - 8; offset += MARK_STEP)
        pattern_fill(bytes + offset, 8, seed + offset);
    pattern_fill(bytes + size - MARKED_END, MARKED_END, seed + size);
}

bool pattern_marked(const void *block, size_t size, uint64_t seed) {
    if (size <= (size_t)4 * MARKED_END)
        return pattern_holds(block, size, seed);
    const unsigned char *bytes = block;
    if (!pattern_holds(bytes, MARKED_END, seed) ||
        !pattern_holds(bytes + size - MARKED_END, MARKED_END, seed + size))
        return false;
    for (size_t offset = MARK_STEP; offset < size - MARKED_END - 8; offset += MARK_STEP)
        if (!pattern_holds(bytes + offset, 8, seed + offset))
            return false;
    return true;
}

bool all_zero(const void *block, size_t size) {
    const unsigned char *bytes = block;
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}
