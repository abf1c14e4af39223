#include "pages/canaries.h"

#include "base/bits.h"
#include "base/classes.h"
#include "base/fatal.h"
#include "os/secret.h"
#include "pages/mark.h"
#include "pages/range.h"
#include "policy/policy.h"

#include <string.h>

enum { WORD = sizeof(uint64_t) };

/* An odd number and its inverse: one byte of the last word that was written to changes all bits of
 * the slack above it. */
#define ODD UINT64_C(0x9e3779b97f4a7c15)
#define INVERSE UINT64_C(0xf1de83e19937733d)
_Static_assert(ODD *INVERSE == 1, "one takes back what the other does");

HAK_EARLY size_t hak_canaries;
static uintptr_t marks[HAK_CLASSES], factor;

bool hak_canaries_begin(void) {
    if (hak_policy_now()->canaries == 0 || !hak_marks_tell(marks))
        return false;
    hak_secret_choose();
    factor = hak_secret * ODD | 1;
    hak_canaries = WORD;
    return true;
}

/* ---- where things are ---- */

/* `last` is NULL where the address lies in no slab. */
typedef struct place {
    uint8_t *mark;
    char *last; /* the last word of the block, if one begins here */
} place;

static HAK_DOOR place find_elsewhere(const void *block) {
    unsigned cls = hak_class_of(block);
    if (cls == HAK_CLASS_NONE)
        return (place){NULL, NULL};
    return (place){hak_mark_of(block), (char *)(uintptr_t)block + hak_classes[cls].size - WORD};
}

static inline place find(const void *block) {
    unsigned cls = hak_class_in(&hak_ranges[0], block);
    if (HAK_UNLIKELY(cls == HAK_CLASS_NONE))
        return find_elsewhere(block);
    return (place){hak_mark_by(marks[cls], hak_grain_around(block)),
                   (char *)(uintptr_t)block + hak_classes[cls].size - WORD};
}

static inline uint8_t with_canary(const void *block) {
    return (uint8_t)(hak_mark_for(hak_grain(block)) + HAK_MARK_CANARY);
}

/* Without canaries the table of marks is empty. */
static inline bool has_canary(place p, const void *block) {
    return hak_canaries != 0 && p.last != NULL && hak_is_at_grain(block) &&
           *p.mark == with_canary(block);
}

/* ---- the words ---- */

/* Both halves of a product, so that no digit of the secret stands in the key by itself. Source: the
 * "mum" of Wang Yi's wyhash. It is no cryptography. */
static inline uint64_t key_of(const void *block) {
    hak_wide product = (hak_wide)((uintptr_t)block ^ hak_secret) * factor;
    return ((uint64_t)product ^ (uint64_t)(product >> 64)) | 1;
}

static inline uint64_t read_word(const char *at) {
    uint64_t word;
    memcpy(&word, at, WORD);
    return word;
}

static inline void write_word(char *at, uint64_t word) {
    memcpy(at, &word, WORD);
}

/* What differs in the canary's first word, without the bytes that belong to its last word too. The
 * first byte in memory is the lowest. */
static inline uint64_t difference(const char *at, uint64_t key, size_t slack) {
    uint64_t other = read_word(at) ^ key;
    return slack < WORD ? other & ((UINT64_C(1) << 8 * slack) - 1) : other;
}

static _Noreturn HAK_DOOR void refuse(const char *function, const void *block) {
    hak_fatal("overflow", function, block, "the bytes behind it were written to");
}

/* The bytes in front of the canary; or the program ends. */
static inline size_t size_before(const char *last, const char *function, const void *block) {
    uint64_t key = key_of(block), slack = (read_word(last) - key) * INVERSE;
    size_t most = (size_t)(last - (const char *)block);
    if (HAK_UNLIKELY(slack > most) || HAK_UNLIKELY(difference(last - slack, key, slack) != 0))
        refuse(function, block);
    return most - slack;
}

/* ---- blocks ---- */

static inline void *put(place p, void *block, size_t size) {
    char *first = (char *)block + size;
    uint64_t key = key_of(block);
    write_word(first, key);
    write_word(p.last, key + (uint64_t)(p.last - first) * ODD);
    *p.mark = with_canary(block);
    return block;
}

void *hak_canary_write(void *block, size_t size) {
    return HAK_LIKELY(block != NULL) ? put(find(block), block, size) : NULL;
}

void *hak_canary_move(void *block, size_t size) {
    place p = find(block);
    return has_canary(p, block) ? put(p, block, size) : block;
}

size_t hak_canary_size(const char *function, const void *block) {
    place p = find(block);
    if (has_canary(p, block))
        return size_before(p.last, function, block);
    hak_mark_must_be_out(function, block);
    return (size_t)(p.last + WORD - (const char *)block);
}

void hak_canary_take(void *block) {
    place p = find(block);
    if (!has_canary(p, block))
        return;
    size_t size = size_before(p.last, "free", block);
    write_word((char *)block + size, 0);
    write_word(p.last, 0);
    *p.mark = hak_mark_for(hak_grain(block));
}
