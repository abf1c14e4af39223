/* A clock that does not depend on the machine: preloaded beside the allocator, which purges and
 * arms by time. It tells the allocator, and nobody else, how often it was asked. So a training does
 * the same however fast or busy the machine is. */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#ifdef __x86_64__
#define CLOCK_NAME "__vdso_clock_gettime"
#else
#define CLOCK_NAME "__kernel_clock_gettime"
#endif

#define SECOND_NS UINT64_C(1000000000)

enum {
    LOOK_NS = 2000, /* about what lies between two looks in programs that allocate all the time */
    TICK_NS = 4000000, /* the coarse clock of most kernels */
};

static _Atomic uintptr_t library_begins, library_ends;

static int find_library(struct dl_phdr_info *module, size_t size, void *unused) {
    (void)size, (void)unused;
    const char *name = strrchr(module->dlpi_name, '/');
    if (name == NULL || strcmp(name, "/libhakmem.so") != 0)
        return 0;
    uintptr_t begins = UINTPTR_MAX, ends = 0;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t at = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && at < begins)
            begins = at;
        if (part->p_type == PT_LOAD && at + part->p_memsz > ends)
            ends = at + part->p_memsz;
    }
    atomic_store(&library_begins, begins);
    atomic_store(&library_ends, ends);
    return 1;
}

static bool is_library(uintptr_t caller) {
    if (atomic_load(&library_ends) == 0)
        dl_iterate_phdr(find_library, NULL);
    return caller >= atomic_load(&library_begins) && caller < atomic_load(&library_ends);
}

static int tell(clockid_t clock, struct timespec *now) {
    static _Atomic uint64_t looks;
    uint64_t ns = SECOND_NS + (atomic_fetch_add(&looks, 1) + 1) * LOOK_NS;
    if (clock == CLOCK_MONOTONIC_COARSE)
        ns -= ns % TICK_NS;
    *now = (struct timespec){.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
    return 0;
}

/* The library asks the function that the kernel maps into each process
 * (allocator/os/clock_linux.c). So it is shown an image like the kernel's, in which that function
 * is ours. */
static struct image {
    ElfW(Ehdr) header;
    ElfW(Phdr) parts[2];
    ElfW(Dyn) tables[4];
    ElfW(Sym) symbol;
    char names[32];
} image = {
    .header = {.e_phoff = offsetof(struct image, parts), .e_phnum = 2},
    .parts = {{.p_type = PT_LOAD},
              {.p_type = PT_DYNAMIC, .p_vaddr = offsetof(struct image, tables)}},
    .tables = {{DT_SYMTAB, {offsetof(struct image, symbol)}},
               {DT_STRTAB, {offsetof(struct image, names)}},
               {DT_STRSZ, {sizeof image.names}},
               {DT_NULL, {0}}},
    .symbol = {.st_shndx = SHN_ABS},
    .names = CLOCK_NAME,
};

unsigned long getauxval(unsigned long type) {
    if (type != AT_SYSINFO_EHDR || !is_library((uintptr_t)__builtin_return_address(0))) {
        unsigned long (*next)(unsigned long);
        *(void **)&next = dlsym(RTLD_NEXT, "getauxval");
        return next(type);
    }
    image.symbol.st_value = (uintptr_t)tell - (uintptr_t)&image;
    return (uintptr_t)&image;
}
