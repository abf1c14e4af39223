#include "settle.h"
#include "block.h"

#include <time.h>

static void live_a_little(void) {
    const struct timespec pause = {.tv_nsec = 1000000};
    for (size_t size = 16; size <= 1024; size += 16) {
        void *block = bench_malloc(size);
        bench_touch(block, size);
        free(block);
    }
    nanosleep(&pause, NULL);
}

void bench_settle(uint64_t milliseconds) {
    static const struct {
        uint64_t milliseconds;
        const char *key;
    } marks[] = {{0, "rss_after_0ms_kib"},       {100, "rss_after_100ms_kib"},
                 {500, "rss_after_500ms_kib"},   {1000, "rss_after_1000ms_kib"},
                 {2000, "rss_after_2000ms_kib"}, {5000, "rss_after_5000ms_kib"}};
    uint64_t start = bench_now_ns();
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (marks[i].milliseconds > milliseconds)
            return;
        while (bench_now_ns() - start < marks[i].milliseconds * 1000000)
            live_a_little();
        bench_result(marks[i].key, bench_rss_kib());
    }
}
