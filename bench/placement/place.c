/* Reads the words of a trace and says what each placement of its small blocks would miss.
 *
 *   place <TRACE                    a line for each policy
 *   place --learn GROUPS <TRACE     writes what the learned policies need
 *   place --groups GROUPS <TRACE    with them: of another run of the program
 *
 * What lies outside of small blocks (stacks, globals, large blocks, the allocator's own tables)
 * stays where it was. Blocks of more than 4 KiB do, too. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "cache.h"
#include "learn.h"
#include "policies.h"
#include "trace.h"

typedef struct totals {
    uint64_t accesses, in_blocks, blocks, known;
} totals;

static caches simulated[POLICIES];
static unsigned count;
static bool learning;
static totals sum;

static uint64_t next_word(void) {
    uint64_t word;
    return fread(&word, sizeof word, 1, stdin) == 1 ? word : 0;
}

static void allocated(uint64_t address) {
    uint64_t size = next_word(), site = next_word(), context = next_word();
    block *old = block_of(address);
    if (size > SMALL)
        return;
    if (old != NULL)
        block_remove(old);
    block *it = block_add(address, size);
    it->site = site_number(site);
    it->context = site_number(context);
    sum.blocks++;
    if (learning)
        learn_block(it);
    for (unsigned k = 0; k < count; k++)
        it->at[k] = policies[k].take(&policies[k], it);
}

static void freed(uint64_t address) {
    block *it = block_of(address);
    if (it == NULL || it->from != address)
        return;
    for (unsigned k = 0; k < count; k++)
        policies[k].give(&policies[k], it, it->at[k]);
    block_remove(it);
}

static void accessed(uint64_t address, unsigned bytes) {
    const block *it = block_of(address);
    sum.accesses++;
    sum.in_blocks += it != NULL;
    if (it != NULL && learning)
        learn_access(it);
    for (unsigned k = 0; k < count; k++) {
        uint64_t to = it == NULL ? address : it->at[k] + (address - it->from);
        caches_touch(&simulated[k], to, bytes, it != NULL);
    }
}

static void replay(void) {
    for (uint64_t word = next_word(); word != 0; word = next_word())
        if (trace_kind(word) == TRACE_ACCESS)
            accessed(trace_address(word), trace_bytes(word));
        else if (trace_kind(word) == TRACE_ALLOCATE)
            allocated(trace_address(word));
        else
            freed(trace_address(word));
}

static FILE *opened(const char *name, const char *how) {
    FILE *it = fopen(name, how);
    if (it == NULL) {
        perror(name);
        exit(1);
    }
    return it;
}

static void read_groups(const char *name) {
    char line[128], *rest;
    FILE *from = opened(name, "re");
    while (fgets(line, sizeof line, from) != NULL) {
        uint64_t digest = strtoull(line, &rest, 16);
        uint32_t affinity = (uint32_t)strtoul(rest, &rest, 10);
        policies_learned(digest, affinity, (uint32_t)strtoul(rest, &rest, 10));
    }
    fclose(from);
}

static void print(void) {
    printf("accesses=%llu in_blocks=%llu blocks=%llu sites=%u\n", (unsigned long long)sum.accesses,
           (unsigned long long)sum.in_blocks, (unsigned long long)sum.blocks, site_count());
    for (unsigned k = 0; k < count; k++) {
        printf("policy=%s", policies[k].name);
        for (int level = 0; level < LEVELS; level++)
            printf(" %s=%llu", (const char *[]){"d1", "l2", "ll", "tlb", "tlb2"}[level],
                   (unsigned long long)simulated[k].level[level].misses);
        printf(" l2_blocks=%llu frontier=%llu\n", (unsigned long long)simulated[k].of_blocks,
               (unsigned long long)(policies[k].frontier - policies[k].base));
    }
}

int main(int argc, char **argv) {
    static char buffer[1 << 20];
    setvbuf(stdin, buffer, _IOFBF, sizeof buffer);
    learning = argc == 3 && strcmp(argv[1], "--learn") == 0;
    if (argc == 3 && strcmp(argv[1], "--groups") == 0)
        read_groups(argv[2]);
    else if (!learning && argc != 1)
        return fprintf(stderr, "place: [--learn FILE | --groups FILE] <TRACE\n"), 2;
    count = learning ? 0 : policies_make();
    for (unsigned k = 0; k < count; k++)
        caches_make(&simulated[k]);
    replay();
    if (learning)
        learn_write(opened(argv[2], "we"));
    else
        print();
    return 0;
}
