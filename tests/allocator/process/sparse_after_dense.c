/* A program that fills one huge table, and then takes huge blocks of which it uses a page in each
 * MiB (as slapd's threads do), gets huge pages for twice as many of them as the table has, at most.
 */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"

#define MIB ((size_t)1 << 20)
enum { TABLE_MIB = 15, SPARSE = 12, SPARSE_MIB = 8, MOST_KIB = 2 * TABLE_MIB << 10 };

static void use_little(void) {
    volatile char *block = malloc(SPARSE_MIB * MIB);
    CHECK(block != NULL);
    for (size_t at = 0; at < SPARSE_MIB * MIB; at += MIB)
        block[at] = 1;
}

int main(void) {
    char *table = malloc(TABLE_MIB * MIB);
    CHECK(table != NULL);
    memset(table, 1, TABLE_MIB * MIB);
    size_t before = rss_kib();
    for (int i = 0; i < SPARSE; i++)
        use_little();
    size_t after = rss_kib();
    CHECK_THAT(after < before + MOST_KIB, "%zu KiB, %zu before the sparse blocks", after, before);
    return 0;
}
