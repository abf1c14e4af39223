/* A plugin of qemu-x86_64: writes the words of trace.h. Use: -plugin file=tracer.so,out=FILE
 *
 * Who called malloc comes from the calls themselves, without frame pointers: each call stores its
 * return address, and is kept with the place of that store. A call at the same place of the stack
 * or above it ends all those below:
 *
 *       higher addresses   main's call     place 7f00, return address a
 *                          parse's call    place 7e80, return address b
 *       the newest         xmalloc's call  place 7e40, return address c     <- the site
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "qemu_plugin.h"
#include "trace.h"

enum { DEEPEST = 1 << 20 };

int qemu_plugin_version = 1;

typedef struct call {
    uint64_t place, back;
} call;

static call calls[DEEPEST];
static unsigned depth;
static FILE *out;
static uint64_t ignored_first, ignored_last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(uint64_t word) {
    if (out != NULL)
        fwrite(&word, sizeof word, 1, out);
}

/* A second access to the same 16 bytes changes no cache: it is left out. */
static void touched(uint64_t address, unsigned bytes) {
    static uint64_t last;
    uint64_t first = address >> 4, end = (address + bytes - 1) >> 4;
    if (first == last && end == last)
        return;
    last = first == end ? first : 0;
    put(trace_word(TRACE_ACCESS, bytes, address));
}

static void called(uint64_t place, uint64_t back) {
    while (depth > 0 && calls[depth - 1].place <= place)
        depth--;
    if (depth < DEEPEST)
        calls[depth++] = (call){place, back};
}

/* back: the address behind a call, NULL for other instructions. */
static void on_memory(unsigned cpu, qemu_plugin_meminfo_t how, uint64_t address, void *back) {
    (void)cpu;
    pthread_mutex_lock(&lock);
    if (back != NULL && qemu_plugin_mem_is_store(how))
        called(address, (uint64_t)back);
    touched(address, 1u << qemu_plugin_mem_size_shift(how));
    pthread_mutex_unlock(&lock);
}

/* e8 is a call; ff a call if three bits of the next byte are 2; before it may stand a prefix. */
static bool is_call(const unsigned char *code, size_t size) {
    size_t at = 0;
    while (at + 1 < size && (code[at] == 0xf2 || code[at] == 0x3e || (code[at] & 0xf0) == 0x40))
        at++;
    return code[at] == 0xe8 || (code[at] == 0xff && at + 1 < size && (code[at + 1] >> 3 & 7) == 2);
}

static void on_instruction(struct qemu_plugin_insn *it) {
    uint64_t address = qemu_plugin_insn_vaddr(it);
    size_t size = qemu_plugin_insn_size(it);
    void *back = is_call(qemu_plugin_insn_data(it), size) ? (void *)(address + size) : NULL;
    if (address >= ignored_first && address < ignored_last)
        return;
    qemu_plugin_register_vcpu_mem_cb(it, on_memory, QEMU_PLUGIN_NO_REGISTERS,
                                     QEMU_PLUGIN_LOADS_AND_STORES, back);
}

static void on_code(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t at = 0; at < qemu_plugin_tb_n_insns(block); at++)
        on_instruction(qemu_plugin_tb_get_insn(block, at));
}

static void put_callers(uint64_t place) {
    uint64_t digest = 0, first = 0;
    unsigned newest = depth;
    while (newest > 0 && calls[newest - 1].place < place)
        newest--;
    for (unsigned taken = 0; taken < TRACE_FRAMES && taken < newest; taken++) {
        uint64_t back = calls[newest - 1 - taken].back;
        first = taken == 0 ? back : first;
        digest = (digest ^ back) * 0x9e3779b97f4a7c15ull;
        digest ^= digest >> 29;
    }
    put(first);
    put(digest);
}

static void on_call(qemu_plugin_id_t id, unsigned cpu, int64_t what, uint64_t block, uint64_t size,
                    uint64_t place, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
    (void)id, (void)cpu, (void)d, (void)e, (void)f, (void)g, (void)h;
    pthread_mutex_lock(&lock);
    if (what == TELL_ALLOCATED) {
        put(trace_word(TRACE_ALLOCATE, 0, block));
        put(size);
        put_callers(place);
    } else if (what == TELL_FREED) {
        put(trace_word(TRACE_FREE, 0, block));
    } else if (what == TELL_IGNORE) {
        ignored_first = block;
        ignored_last = size;
    } else if (what == TELL_SILENCE) {
        out = NULL; /* the parent writes what the buffer holds */
    }
    pthread_mutex_unlock(&lock);
}

static void on_end(qemu_plugin_id_t id, void *nothing) {
    (void)id, (void)nothing;
    if (out != NULL)
        fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int count, char **arguments) {
    static char buffer[1 << 20];
    (void)info;
    if (count != 1 || strncmp(arguments[0], "out=", 4) != 0)
        return -1;
    out = fopen(arguments[0] + 4, "we");
    if (out == NULL)
        return -1;
    setvbuf(out, buffer, _IOFBF, sizeof buffer);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_code);
    qemu_plugin_register_vcpu_syscall_cb(id, on_call);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
