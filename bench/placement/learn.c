/* As HALO (CGO 2020) does: two contexts are together once for each time that a block of one is
 * touched within eight blocks after a block of the other. Pairs are joined, the most frequent
 * first, until 90 % of all such times are within a group; a group has 16 contexts at most.
 *
 * Hot are the contexts with most accesses for each byte, until they have 90 % of all accesses. */
#include "learn.h"

#include <stdbool.h>
#include <stdlib.h>

#include "room.h"

enum { TOP = 2048, WINDOW = 8, GROUP_MOST = 16 };

typedef struct pair {
    uint64_t weight;
    uint32_t one, other;
} pair;

typedef struct site {
    uint64_t bytes, accesses;
    uint32_t parent, members, number;
} site;

static uint64_t (*together)[TOP]; /* contexts beyond the first 2,047 share number 0 */
static site sites[TOP];
static const block *seen[WINDOW];
static uint32_t seen_context[WINDOW];
static unsigned newest;
/* Contexts share one table of numbers with single callers; here they have numbers of their own. */
static uint32_t own_number[1 << 20], own_count;

static uint32_t row_of(uint32_t context) {
    if (own_number[context] == 0 && own_count < TOP - 1) {
        own_number[context] = ++own_count;
        sites[own_count].number = context;
    }
    return own_number[context];
}

void learn_block(const block *it) {
    sites[row_of(it->context)].bytes += it->size;
}

void learn_access(const block *it) {
    uint32_t row = row_of(it->context);
    sites[row].accesses++;
    if (it == seen[newest])
        return;
    if (together == NULL)
        together = room(sizeof(uint64_t) * TOP * TOP);
    for (unsigned k = 0; k < WINDOW; k++)
        if (seen[k] != NULL && seen[k] != it) {
            uint32_t a = row, b = seen_context[k];
            together[a < b ? a : b][a < b ? b : a]++;
        }
    newest = (newest + 1) % WINDOW;
    seen[newest] = it;
    seen_context[newest] = row;
}

static uint32_t root(uint32_t row) {
    while (sites[row].parent != row)
        row = sites[row].parent;
    return row;
}

static int heavier(const void *a, const void *b) {
    uint64_t one = ((const pair *)a)->weight, other = ((const pair *)b)->weight;
    return (one < other) - (one > other);
}

static uint32_t pairs_of(pair *all, uint64_t *total) {
    uint32_t count = 0;
    for (uint32_t a = 1; a <= own_count; a++)
        for (uint32_t b = a; together != NULL && b <= own_count; b++)
            if (together[a][b] != 0) {
                *total += together[a][b];
                all[count++] = (pair){together[a][b], a, b};
            }
    qsort(all, count, sizeof *all, heavier);
    return count;
}

static void join(uint32_t one, uint32_t other) {
    uint32_t to = root(one), from = root(other);
    if (to == from || sites[to].members + sites[from].members > GROUP_MOST)
        return;
    sites[from].parent = to;
    sites[to].members += sites[from].members;
}

/* Returns which contexts are in a group: those that the heaviest pairs name. */
static bool *groups(void) {
    static bool grouped[TOP];
    pair *all = room(sizeof(pair) * TOP * TOP);
    uint64_t total = 0, done = 0;
    uint32_t count = pairs_of(all, &total);
    for (uint32_t row = 1; row <= own_count; row++) {
        sites[row].parent = row;
        sites[row].members = 1;
    }
    for (uint32_t k = 0; k < count && done < total / 10 * 9; k++) {
        done += all[k].weight;
        join(all[k].one, all[k].other);
        grouped[all[k].one] = grouped[all[k].other] = true;
    }
    return grouped;
}

static int denser(const void *a, const void *b) {
    const site *one = &sites[*(const uint32_t *)a], *other = &sites[*(const uint32_t *)b];
    double x = (double)one->accesses / (double)(one->bytes + 1);
    double y = (double)other->accesses / (double)(other->bytes + 1);
    return (x < y) - (x > y);
}

void learn_write(FILE *to) {
    static uint32_t order[TOP];
    const bool *grouped = groups();
    uint64_t total = 0, done = 0;
    for (uint32_t row = 1; row <= own_count; row++) {
        order[row] = row;
        total += sites[row].accesses;
    }
    qsort(order + 1, own_count, sizeof *order, denser);
    for (uint32_t k = 1; k <= own_count; k++) {
        uint32_t row = order[k];
        fprintf(to, "%016llx %u %u %llu %llu\n", (unsigned long long)site_digest(sites[row].number),
                grouped[row] ? root(row) : 0, done < total / 10 * 9 ? 1 : 2,
                (unsigned long long)sites[row].accesses, (unsigned long long)sites[row].bytes);
        done += sites[row].accesses;
    }
}
