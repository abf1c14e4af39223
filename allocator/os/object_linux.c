#include "os/object.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The headers of the file that this code lies in, as the loader has them. The file's first bytes do
 * not tell: BOLT moves the headers to another place in the file than in memory. */

/* Names and contents of notes end at multiples of four. */
static size_t padded(size_t size) {
    return (size + 3) & ~(size_t)3;
}

static bool is_build_id(const ElfW(Nhdr) * note) {
    return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof ELF_NOTE_GNU &&
           memcmp(note + 1, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
}

static const char *content_of(const ElfW(Nhdr) * note) {
    return (const char *)(note + 1) + padded(note->n_namesz);
}

static const ElfW(Nhdr) * find_in(const char *at, const char *end) {
    while (end - at > (ptrdiff_t)sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        if (is_build_id(note))
            return note;
        at = content_of(note) + padded(note->n_descsz);
    }
    return NULL;
}

typedef struct own {
    uintptr_t from, to;
    const ElfW(Nhdr) * build_id; /* NULL: there is none */
    bool is_known;               /* the first file of the list, which is the program, was seen */
} own;

/* Whether the file has this code in it; *end is where its last segment ends. */
static bool is_own(const struct dl_phdr_info *object, uintptr_t *end) {
    bool found = false;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        found |= (uintptr_t)hak_os_build_id - from < segment->p_memsz;
        *end = from + segment->p_memsz;
    }
    return found;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *found) {
    (void)size;
    own *o = found;
    uintptr_t end = 0;
    bool is_program = !o->is_known;
    o->is_known = true;
    if (!is_own(object, &end))
        return 0;
    o->from = is_program ? 0 : object->dlpi_addr;
    o->to = is_program ? 0 : end;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const char *begin = (const char *)(object->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_NOTE && o->build_id == NULL)
            o->build_id = find_in(begin, begin + segment->p_memsz);
    }
    return 1;
}

static own find(void) {
    own found = {0};
    dl_iterate_phdr(look_at, &found);
    return found;
}

static void write_hex(const char *bytes, size_t count, char *digits) {
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        *digits++ = hex[(unsigned char)bytes[i] >> 4];
        *digits++ = hex[bytes[i] & 15];
    }
    *digits = '\0';
}

/* Looked for once: a child that is forked meanwhile would find the loader's lock held for ever. */
static const ElfW(Nhdr) * own_note(void) {
    static _Atomic(const ElfW(Nhdr) *) known;
    static _Atomic bool looked;
    if (atomic_load_explicit(&looked, memory_order_acquire))
        return atomic_load_explicit(&known, memory_order_relaxed);
    const ElfW(Nhdr) *found = find().build_id;
    atomic_store_explicit(&known, found, memory_order_relaxed);
    atomic_store_explicit(&looked, true, memory_order_release);
    return found;
}

void hak_os_build_id(char digits[HAK_BUILD_ID_ROOM]) {
    const ElfW(Nhdr) *note = own_note();
    digits[0] = '\0';
    if (note != NULL && 2 * note->n_descsz < HAK_BUILD_ID_ROOM)
        write_hex(content_of(note), note->n_descsz, digits);
}

void hak_os_own(uintptr_t *from, uintptr_t *to) {
    own found = find();
    *from = found.from;
    *to = found.to;
}
