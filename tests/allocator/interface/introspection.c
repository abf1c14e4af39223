/* malloc_usable_size, malloc_trim, mallinfo, mallinfo2, malloc_info, malloc_stats, mallopt. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"

enum { BLOCKS = 40000, BLOCK_SIZE = 1000, BIG = 64 << 20 };
static void *blocks[BLOCKS];

static void usable_size_of_null_is_zero(void) {
    CHECK(malloc_usable_size(NULL) == 0);
    void *block = malloc(0);
    memset(block, 1, malloc_usable_size(block));
    free(block);
}

/* Deprecated since its fields became too narrow, but programs call it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static struct mallinfo narrow_mallinfo(void) {
    return mallinfo();
}
#pragma GCC diagnostic pop

/* The figures of mallinfo2 must follow what the program does: 40 MB of small blocks and one of
 * 64 MiB, live and then freed. */
static void mallinfo_follows_the_program(void) {
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < BLOCKS; i++)
        CHECK(blocks[i] = malloc(BLOCK_SIZE));
    void *big = malloc(BIG);
    struct mallinfo2 during = mallinfo2();
    size_t live_before = before.uordblks + before.hblkhd;
    size_t live_during = during.uordblks + during.hblkhd;
    CHECK_THAT(live_during >= live_before + (size_t)BLOCKS * BLOCK_SIZE + BIG,
               "live bytes %zu, before %zu", live_during, live_before);
    CHECK_THAT(live_during <= live_before + ((size_t)BLOCKS * BLOCK_SIZE + BIG) / 4 * 5,
               "live bytes %zu, before %zu", live_during, live_before);
    struct mallinfo narrow = narrow_mallinfo();
    CHECK_THAT((unsigned)narrow.uordblks == (unsigned)during.uordblks, "mallinfo %d, mallinfo2 %zu",
               narrow.uordblks, during.uordblks);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    free(big);
    struct mallinfo2 after = mallinfo2();
    size_t live_after = after.uordblks + after.hblkhd;
    CHECK_THAT(live_after <= live_before + live_during / 20, "live bytes %zu after all was freed",
               live_after);
}

static void malloc_info_writes_xml(void) {
    static char text[1 << 16];
    FILE *stream = fmemopen(text, sizeof text, "w");
    CHECK(stream);
    CHECK(malloc_info(0, stream) == 0);
    CHECK(fclose(stream) == 0);
    CHECK_THAT(strstr(text, "<malloc version="), "%.80s", text);
    CHECK_THAT(strstr(text, "</malloc>"), "%.80s", text);
    CHECK(malloc_info(1, stdout) == EINVAL);
}

static void malloc_stats_writes_to_stderr(void) {
    static char text[1 << 16];
    int ends[2];
    int saved = dup(STDERR_FILENO);
    CHECK(pipe(ends) == 0);
    fflush(stderr);
    CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    malloc_stats();
    fflush(stderr);
    CHECK(dup2(saved, STDERR_FILENO) == STDERR_FILENO);
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    CHECK_THAT(length > 20, "malloc_stats wrote %zd bytes", length);
    CHECK_THAT(strstr(text, "bytes") || strstr(text, "use"), "%.200s", text);
}

/* What a parameter means here is done; of the others mallopt says so. */
static void options_mean_something_or_are_refused(void) {
    enum { DECAY_TIME = -100, PURGE = -101 }; /* Android's */
    static const int others[] = {M_MMAP_THRESHOLD, M_TOP_PAD, M_MMAP_MAX,     M_ARENA_MAX,
                                 M_ARENA_TEST,     M_PERTURB, M_CHECK_ACTION, 12345};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_THAT(mallopt(others[i], others[i] == M_PERTURB ? 0 : 1 << 16) == 0, "option %d",
                   others[i]);
    CHECK(mallopt(M_TRIM_THRESHOLD, -1) == 1);
    CHECK(mallopt(M_TRIM_THRESHOLD, 1 << 16) == 1);
    CHECK(mallopt(DECAY_TIME, 1) == 1);
    CHECK(mallopt(DECAY_TIME, 2) == 0);
    CHECK(mallopt(PURGE, 0) == 1);
}

static void trim_answers_zero_or_one(void) {
    for (int i = 0; i < BLOCKS; i++)
        CHECK(blocks[i] = malloc(BLOCK_SIZE));
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    int released = malloc_trim(0);
    CHECK_THAT(released == 1, "malloc_trim gave %d with 40 MB to give back", released);
    released = malloc_trim(0);
    CHECK(released == 0 || released == 1);
}

int main(void) {
    usable_size_of_null_is_zero();
    mallinfo_follows_the_program();
    malloc_info_writes_xml();
    malloc_stats_writes_to_stderr();
    trim_answers_zero_or_one();
    options_mean_something_or_are_refused();
    return 0;
}
