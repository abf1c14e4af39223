/* hak_stats_json and hak_stats_prometheus: figures against a model of what the program did, in each
 * class and in large blocks; blocks that another thread freed; what waits for the purge; both texts
 * say the same; a buffer that is too small. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/threads.h"
#include "hakmem.h"

enum { ROOM = 1 << 20, SMALL = 3000, LARGE = 40, MIB = 1 << 20, SIZES = 81, THREADS = 4 };
static char text[ROOM], other[ROOM];
static void *small[SMALL], *large[LARGE];

static size_t (*json)(char *, size_t), (*prometheus)(char *, size_t), (*purge)(void);

static void *function(const char *name) {
    void *address = dlsym(RTLD_DEFAULT, name);
    CHECK_THAT(address, "%s is not exported", name);
    return address;
}

static void look(void) {
    CHECK(json(text, ROOM) == strlen(text));
}

/* The number behind a name, in a piece of the text. False: it is null. */
static bool number_in(const char *from, const char *name, size_t *value) {
    char wanted[64] = "\"";
    strcat(strcat(wanted, name), "\":");
    const char *found = strstr(from, wanted);
    CHECK_THAT(found, "no %s in %.100s", name, from);
    found += strlen(wanted);
    *value = strtoull(found, NULL, 10);
    return strncmp(found, "null", 4) != 0;
}

static size_t figure(const char *name) {
    size_t value;
    CHECK_THAT(number_in(strstr(text, "\"figures\""), name, &value), "%s is null", name);
    return value;
}

static size_t event(const char *name) {
    size_t value;
    CHECK(number_in(strstr(text, "\"events\""), name, &value));
    return value;
}

static bool is_production(void) {
    return strstr(text, "\"variant\":\"guard\"") == NULL;
}

/* Whether a block says by its usable size which class it has. Canaries leave what was asked for. */
static bool tells_classes(void) {
    const char *canaries = getenv("HAKMEM_CANARIES");
    return is_production() && (canaries == NULL || *canaries == '0');
}

/* Sizes and live blocks of all classes that the text names. */
typedef struct classes {
    size_t count, size[SIZES], live[SIZES];
} classes;

/* Every block of a slab is somewhere. */
static void class_adds_up(const char *class) {
    static const char *const parts[] = {"live_blocks",     "magazine_blocks", "remote_blocks",
                                        "returned_blocks", "fresh_blocks",    "quarantine_blocks"};
    size_t size, slab, slabs, hot, draining, empty, part, sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sum += number_in(class, parts[i], &part) ? part : 0;
    CHECK(number_in(class, "size", &size) && number_in(class, "slab_bytes", &slab));
    CHECK(number_in(class, "slabs", &slabs) && number_in(class, "slabs_hot", &hot));
    CHECK(number_in(class, "slabs_draining", &draining) && number_in(class, "slabs_free", &empty));
    CHECK(slabs == hot + draining + empty);
    CHECK_THAT(sum == slab / size * slabs, "%zu blocks in %zu slabs of %zu", sum, slabs, size);
}

static classes classes_now(void) {
    classes all = {0};
    const char *from = strstr(text, "\"classes\"");
    CHECK(from);
    while ((from = strstr(from, "\n{\"size\":")) != NULL) {
        class_adds_up(from);
        CHECK(number_in(from, "size", &all.size[all.count]));
        CHECK(number_in(from, "live_blocks", &all.live[all.count]));
        all.count++;
        from++;
    }
    return all;
}

static size_t live_of(const classes *all, size_t size) {
    for (size_t i = 0; i < all->count; i++)
        if (all->size[i] == size)
            return all->live[i];
    return 0;
}

static size_t each_size(int i) {
    return 1 + (size_t)i * 7919 % 40000;
}

static void allocate_small(void) {
    for (int i = 0; i < SMALL; i++)
        CHECK((small[i] = malloc(each_size(i))) != NULL);
}

static void free_small(int first, int step) {
    for (int i = first; i < SMALL; i += step) {
        free(small[i]);
        small[i] = NULL;
    }
}

/* The model: blocks by what may be used of them, which is the size of the class. */
static void classes_are(const classes *before, const classes *now) {
    for (size_t i = 0; i < now->count; i++) {
        size_t expected = live_of(before, now->size[i]);
        for (int j = 0; j < SMALL; j++)
            expected += small[j] != NULL && malloc_usable_size(small[j]) == now->size[i];
        CHECK_THAT(now->live[i] == expected, "%zu live blocks of %zu, not %zu", now->live[i],
                   now->size[i], expected);
    }
}

static void small_blocks_are_counted(void) {
    look();
    size_t blocks = figure("live_blocks"), bytes = figure("live_bytes"), sum = 0;
    classes before = classes_now(), during;
    allocate_small();
    look();
    during = classes_now();
    CHECK(figure("live_blocks") == blocks + SMALL);
    for (int i = 0; i < SMALL; i++)
        sum += malloc_usable_size(small[i]);
    if (tells_classes()) {
        classes_are(&before, &during);
        CHECK_THAT(figure("live_bytes") == bytes + sum, "%zu, not %zu", figure("live_bytes"),
                   bytes + sum);
    }
    CHECK(figure("live_bytes") >= bytes + sum);
    free_small(0, 3);
    look();
    during = classes_now();
    CHECK(figure("live_blocks") == blocks + SMALL - SMALL / 3);
    if (tells_classes())
        classes_are(&before, &during);
    free_small(1, 3);
    free_small(2, 3);
    look();
    CHECK_THAT(figure("live_bytes") == bytes, "%zu, not %zu", figure("live_bytes"), bytes);
}

static void large_blocks_are_counted(void) {
    look();
    size_t blocks = figure("large_blocks"), bytes = figure("large_bytes"), sum = 0;
    size_t huge, huge_before, apart = figure("apart_blocks");
    bool knows_huge = number_in(text, "huge_blocks", &huge_before);
    for (int i = 0; i < LARGE; i++) {
        size_t size = (size_t)70000 + (size_t)i * 99991;
        sum += size;
        CHECK((large[i] = malloc(size)) != NULL);
    }
    void *huge_block = malloc(20 * MIB), *apart_block = malloc((size_t)2048 * MIB);
    look();
    CHECK_THAT(figure("large_blocks") == blocks + LARGE + 1 + (is_production() ? 0 : 1), "%zu",
               figure("large_blocks"));
    if (is_production())
        CHECK_THAT(figure("large_bytes") == bytes + sum + 20 * MIB, "%zu, not %zu",
                   figure("large_bytes"), bytes + sum + 20 * MIB);
    CHECK(!knows_huge || (number_in(text, "huge_blocks", &huge) && huge == huge_before + 1));
    CHECK(!knows_huge || figure("apart_blocks") == apart + (apart_block != NULL));
    for (int i = 0; i < LARGE; i++)
        free(large[i]);
    free(huge_block);
    free(apart_block);
    look();
    CHECK(figure("large_blocks") == blocks && figure("large_bytes") == bytes);
    CHECK(figure("apart_blocks") == apart);
}

/* ---- threads ---- */

static void *free_all(void *unused) {
    free_small(0, 1);
    return unused;
}

/* What the other thread freed is not live any more, whether it has come home or not. */
static void blocks_on_their_way_are_not_live(void) {
    look();
    size_t live = figure("live_blocks");
    allocate_small();
    thread_join(thread_start(free_all, NULL));
    look();
    classes_now();
    CHECK_THAT(figure("live_blocks") == live, "%zu, not %zu", figure("live_blocks"), live);
    if (is_production())
        CHECK_THAT(figure("remote_blocks") > 0, "nothing is on its way");
    for (int i = 0; i < 2; i++) /* the second time takes in what the first made others send */
        purge();
    look();
    classes_now();
    CHECK_THAT(figure("live_blocks") == live, "%zu, not %zu", figure("live_blocks"), live);
    CHECK_THAT(figure("remote_blocks") == 0, "%zu are still away", figure("remote_blocks"));
}

static pthread_barrier_t meet;

static void *keep_some(void *unused) {
    void *block = malloc(100);
    free(block);
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    return unused;
}

static void heaps_add_up(void) {
    size_t bytes, sum = 0, heaps = 0;
    for (const char *from = strstr(text, "\"heaps\""); (from = strstr(from, "\n{")) != NULL;
         from++, heaps++) {
        CHECK(number_in(from, "magazine_bytes", &bytes));
        sum += bytes;
    }
    CHECK_THAT(sum == figure("magazine_bytes"), "%zu, not %zu", sum, figure("magazine_bytes"));
    CHECK(heaps == figure("heaps_active") + figure("heaps_idle") + figure("heaps_frozen"));
}

static void threads_have_heaps(void) {
    pthread_t threads[THREADS];
    look();
    heaps_add_up();
    size_t active = figure("heaps_active");
    CHECK(pthread_barrier_init(&meet, NULL, THREADS + 1) == 0);
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(keep_some, NULL);
    pthread_barrier_wait(&meet);
    look();
    CHECK_THAT(figure("heaps_active") == active + THREADS, "%zu", figure("heaps_active"));
    heaps_add_up();
    pthread_barrier_wait(&meet);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    look();
    CHECK_THAT(figure("heaps_active") == active, "%zu", figure("heaps_active"));
}

/* ---- memory ---- */

static void purged_memory_is_counted(void) {
    size_t resident;
    char *block = malloc(4 * MIB);
    CHECK(block);
    look();
    size_t faults = figure("minor_page_faults_total");
    size_t own = number_in(text, "resident_bytes", &resident) ? resident : SIZE_MAX;
    memset(block, 1, 4 * MIB);
    look();
    CHECK(figure("minor_page_faults_total") > faults);
    if (own != SIZE_MAX)
        /* the guard has touched pages of it already */
        CHECK_THAT(figure("resident_bytes") >= own + 4 * MIB - 65536, "%zu, before %zu",
                   figure("resident_bytes"), own);
    free(block);
    look();
    size_t purged = event("purged_pages");
    size_t waits = figure("dirty_bytes") + figure("run_cache_bytes");
    if (is_production()) /* the guard takes it away at once */
        CHECK_THAT(waits >= 4 * MIB, "%zu bytes wait", waits);
    ((size_t (*)(void))function("hak_purge"))();
    look();
    CHECK_THAT(figure("dirty_bytes") + figure("run_cache_bytes") == 0, "%zu still wait",
               figure("dirty_bytes"));
    if (is_production())
        CHECK_THAT((event("purged_pages") - purged) * 65536 >= 4 * MIB, "%zu pages were purged",
                   event("purged_pages") - purged);
}

/* ---- the texts ---- */

/* What stands behind `"name":` in the part `from` of JSON also stands in Prometheus' text. */
static void is_told_twice(const char *name, size_t length, const char *after, size_t value,
                          bool known) {
    char line[128] = "\nhakmem_";
    strncat(line, name, length);
    strcat(strcat(line, after), " ");
    const char *found = strstr(other, line);
    CHECK_THAT(known == (found != NULL), "%s", line);
    if (known && strstr(line, "resident") == NULL && strstr(line, "faults") == NULL)
        CHECK_THAT(strtoull(found + strlen(line), NULL, 10) == value, "%s %zu", line, value);
}

static size_t compare(const char *from, const char *after) {
    size_t count = 0;
    for (const char *at = strchr(from, '{') + 1; *at == '"' || *at == ','; count++) {
        at += *at == ',';
        const char *end = strchr(at + 1, '"');
        is_told_twice(at + 1, (size_t)(end - at - 1), after, strtoull(end + 2, NULL, 10),
                      strncmp(end + 2, "null", 4) != 0);
        at = end + 2 + strcspn(end + 2, ",}");
    }
    return count;
}

static void both_say_the_same(void) {
    look();
    CHECK(prometheus(other, ROOM) == strlen(other));
    size_t figures = compare(strstr(text, "\"figures\""), "");
    size_t events = compare(strstr(text, "\"events\""), "_total");
    CHECK_THAT(figures > 20 && events > 10, "%zu figures, %zu events", figures, events);
}

static void is_cut_as_by_snprintf(size_t (*print)(char *, size_t)) {
    char few[16];
    memset(few, '#', sizeof few);
    errno = 7;
    size_t all = print(text, ROOM);
    CHECK(errno == 7);
    CHECK(all > 1000 && all == strlen(text));
    CHECK(print(NULL, 0) > 1000);
    CHECK(print(few, 1) > 1000 && few[0] == '\0' && few[1] == '#');
    CHECK(print(few, 8) > 1000 && few[7] == '\0' && few[8] == '#' && memcmp(few, text, 7) == 0);
}

static void nothing_is_allocated(void) {
    look();
    size_t blocks = figure("live_blocks"), taken = event("runs_taken");
    prometheus(other, ROOM);
    look();
    CHECK(figure("live_blocks") == blocks && event("runs_taken") == taken);
}

static void *keep_nothing(void *unused) {
    free(malloc(100));
    return unused;
}

static void *refused_posix_memalign(size_t size) {
    void *block = NULL;
    errno = posix_memalign(&block, 64, size);
    return block;
}
static void *refused_calloc(size_t size) {
    return calloc(1, size);
}
static void *refused_product(size_t size) {
    return calloc(size, 4);
}
static void *refused_array(size_t size) {
    return reallocarray(NULL, size, 4);
}
static void *refused_realloc(size_t size) {
    return realloc(NULL, size);
}
static void *refused_aligned(size_t size) {
    return aligned_alloc(64, size);
}

/* Whoever asks: what no system can grant is one refusal. The guard asks twice. */
static void each_refusal_is_counted(void) {
    static void *(*const ask[])(size_t) = {
        malloc,          refused_calloc, refused_product, refused_array,          refused_realloc,
        refused_aligned, valloc,         pvalloc,         refused_posix_memalign,
    };
    for (size_t i = 0; i < sizeof ask / sizeof *ask; i++) {
        look();
        size_t before = event("refusals");
        errno = 0;
        CHECK_THAT(ask[i]((size_t)PTRDIFF_MAX + 1) == NULL && errno == ENOMEM, "%zu", i);
        look();
        size_t counted = event("refusals") - before;
        CHECK_THAT(is_production() ? counted == 1 : counted >= 1, "%zu counts %zu", i, counted);
    }
}

int main(void) {
    *(void **)&json = function("hak_stats_json");
    *(void **)&prometheus = function("hak_stats_prometheus");
    *(void **)&purge = function("hak_purge");
    thread_join(thread_start(keep_nothing, NULL)); /* libc keeps its stack, and a block for it */
    small_blocks_are_counted();
    large_blocks_are_counted();
    blocks_on_their_way_are_not_live();
    threads_have_heaps();
    purged_memory_is_counted();
    both_say_the_same();
    is_cut_as_by_snprintf(json);
    is_cut_as_by_snprintf(prometheus);
    nothing_is_allocated();
    each_refusal_is_counted();
    return 0;
}
