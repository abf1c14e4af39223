#include "trap/canary.h"

#include "base/bits.h"
#include "os/peek.h"
#include "os/secret.h"

#include <stdbool.h>
#include <string.h>

size_t hak_first_other(const void *start, int value, size_t size) {
    const unsigned char *bytes = start;
    if (size == 0 || (bytes[0] == value && memcmp(bytes, bytes + 1, size - 1) == 0))
        return size;
    size_t i = 0;
    while (bytes[i] == value)
        i++;
    return i;
}

static int value_for(const char *from) {
    uint64_t mixed = ((uintptr_t)from ^ hak_secret) * UINT64_C(0x9e3779b97f4a7c15);
    return (int)(1 + (mixed >> 32) % 255);
}

static int beside(int value) {
    return value % 255 + 1;
}

void hak_canary_put(hak_fenced f) {
    int value = value_for(f.from);
    memset(f.from, value, (size_t)(f.block - f.from));
    memset(f.behind, value, (size_t)(f.end - f.behind));
    if (f.block != f.from)
        f.block[-1] = (char)beside(value);
    if (f.behind != f.end)
        *f.behind = (char)beside(value);
}

static char *first_other(char *from, char *to, int value) {
    return from + hak_first_other(from, value, (size_t)(to - from));
}

static bool beside_is_whole(const char *at, int value) {
    return (unsigned char)*at == beside(value);
}

/* Both return `to` when nothing is damaged. */
static char *first_in_front(char *from, char *to, int value) {
    if (from == to)
        return to;
    char *at = first_other(from, to - 1, value);
    return at == to - 1 && beside_is_whole(at, value) ? to : at;
}

static char *first_behind(char *from, char *to, int value) {
    return from == to || beside_is_whole(from, value) ? first_other(from + (from != to), to, value)
                                                      : from;
}

char *hak_canary_damage(hak_fenced f) {
    int value = value_for(f.from);
    char *at = first_in_front(f.from, f.block, value);
    return at == f.block ? first_behind(f.behind, f.end, value) : at;
}

/* ---- memory that may go away ---- */

enum { PIECE = 512 };

static int value_at(hak_fenced f, int value, const char *at) {
    return at == f.block - 1 || at == f.behind ? beside(value) : value;
}

/* `to` when nothing is damaged. */
static char *peek_damage(hak_fenced f, char *from, char *to) {
    unsigned char piece[PIECE];
    int value = value_for(f.from);
    size_t got = 1;
    for (; from != to && got != 0; from += got) {
        got = hak_os_peek(piece, (uintptr_t)from, hak_least(PIECE, (size_t)(to - from)));
        for (size_t i = 0; i < got; i++)
            if (piece[i] != value_at(f, value, from + i))
                return from + i;
    }
    return to;
}

char *hak_canary_peek_damage(hak_fenced f) {
    char *at = peek_damage(f, f.from, f.block);
    return at == f.block ? peek_damage(f, f.behind, f.end) : at;
}
