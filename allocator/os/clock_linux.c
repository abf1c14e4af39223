#include "os/os.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the function that the kernel maps into each process, the vDSO: no system call ---- */

#ifdef __x86_64__
static const char name_of_it[] = "__vdso_clock_gettime";
#else
static const char name_of_it[] = "__kernel_clock_gettime";
#endif

typedef int clock_function(clockid_t clock, struct timespec *now);

static const ElfW(Phdr) * find_header(const ElfW(Ehdr) * image, ElfW(Word) type) {
    const ElfW(Phdr) *headers = (const void *)((const char *)image + image->e_phoff);
    for (unsigned i = 0; i < image->e_phnum; i++)
        if (headers[i].p_type == type)
            return &headers[i];
    return NULL;
}

/* What the image says of `tag`: where a table lies in it, or how long it is. 0: nothing. */
static ElfW(Addr) find_entry(const ElfW(Dyn) * entry, ElfW(Sxword) tag) {
    while (entry->d_tag != DT_NULL && entry->d_tag != tag)
        entry++;
    return entry->d_tag == tag ? entry->d_un.d_ptr : 0;
}

/* The linker scripts of all kernels put the names right behind the symbols, which end there. If
 * something else lay in between, it would hardly point to the name. */
static clock_function *find_symbol(const char *base, const ElfW(Dyn) * dynamic) {
    ElfW(Addr) symbols = find_entry(dynamic, DT_SYMTAB), names = find_entry(dynamic, DT_STRTAB);
    ElfW(Addr) length = find_entry(dynamic, DT_STRSZ);
    const ElfW(Sym) *symbol = (const void *)(base + symbols), *end = (const void *)(base + names);
    for (; symbols != 0 && symbol + 1 <= end; symbol++)
        if (symbol->st_shndx != SHN_UNDEF && symbol->st_name < length &&
            strcmp(base + names + symbol->st_name, name_of_it) == 0)
            return (clock_function *)(uintptr_t)(base + symbol->st_value);
    return NULL;
}

static clock_function *find_in(const ElfW(Ehdr) * image) {
    const ElfW(Phdr) *code = find_header(image, PT_LOAD);
    const ElfW(Phdr) *dynamic = find_header(image, PT_DYNAMIC);
    if (code == NULL || dynamic == NULL)
        return NULL;
    const char *base = (const char *)image + code->p_offset - code->p_vaddr;
    return find_symbol(base, (const void *)(base + dynamic->p_vaddr));
}

static int ask_system(clockid_t clock, struct timespec *now) {
    return (int)HAK_KEEP_ERRNO(syscall(SYS_clock_gettime, clock, now));
}

/* valgrind and others hide the image; then getauxval sets errno. */
static clock_function *find(void) {
    const void *image = (const void *)HAK_KEEP_ERRNO(getauxval(AT_SYSINFO_EHDR));
    clock_function *found = image != NULL ? find_in(image) : NULL;
    return found != NULL ? found : ask_system;
}

struct timespec hak_os_clock(clockid_t clock) {
    static HAK_EARLY _Atomic(clock_function *) known; /* every thread would write the same */
    struct timespec now = {0};
    clock_function *ask = atomic_load_explicit(&known, memory_order_relaxed);
    if (HAK_UNLIKELY(ask == NULL))
        atomic_store_explicit(&known, ask = find(), memory_order_relaxed);
    ask(clock, &now);
    return now;
}

/* ---- what time it is ---- */

uint64_t hak_os_now_ms(void) {
    struct timespec now = hak_os_clock(CLOCK_MONOTONIC_COARSE);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

uint64_t hak_os_now_us(void) {
    struct timespec now = hak_os_clock(CLOCK_MONOTONIC);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}
