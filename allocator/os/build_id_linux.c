#include "os/build_id.h"

#include "base/attributes.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The file's first bytes in memory, by the linker; it may leave them out. */
extern HAK_HIDDEN HAK_WEAK const ElfW(Ehdr) __ehdr_start;

static void write_hex(const unsigned char *bytes, size_t count, char *digits) {
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        *digits++ = hex[bytes[i] >> 4];
        *digits++ = hex[bytes[i] & 15];
    }
    *digits = '\0';
}

/* Names and contents of notes end at multiples of four. */
static size_t padded(size_t size) {
    return (size + 3) & ~(size_t)3;
}

static bool is_build_id(const ElfW(Nhdr) * note) {
    return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof ELF_NOTE_GNU &&
           memcmp(note + 1, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
}

static void look_into(const char *at, const char *end, char digits[HAK_BUILD_ID_ROOM]) {
    while (end - at > (ptrdiff_t)sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        size_t size = note->n_descsz;
        const char *content = (const char *)(note + 1) + padded(note->n_namesz);
        if (is_build_id(note) && 2 * size < HAK_BUILD_ID_ROOM)
            write_hex((const void *)content, size, digits);
        at = content + padded(size);
    }
}

static const ElfW(Phdr) * segment(const ElfW(Ehdr) * file, unsigned index) {
    return (const ElfW(Phdr) *)((const char *)file + file->e_phoff) + index;
}

/* What is added to the addresses in the file: they begin at 0 in a library. */
static uintptr_t base_of(const ElfW(Ehdr) * file) {
    for (unsigned i = 0; i < file->e_phnum; i++)
        if (segment(file, i)->p_type == PT_LOAD && segment(file, i)->p_offset == 0)
            return (uintptr_t)file - segment(file, i)->p_vaddr;
    return (uintptr_t)file;
}

void hak_os_build_id(char digits[HAK_BUILD_ID_ROOM]) {
    const ElfW(Ehdr) *file = &__ehdr_start;
    digits[0] = '\0';
    for (unsigned i = 0; file != NULL && i < file->e_phnum; i++)
        if (segment(file, i)->p_type == PT_NOTE) {
            const char *notes = (const char *)(base_of(file) + segment(file, i)->p_vaddr);
            look_into(notes, notes + segment(file, i)->p_memsz, digits);
        }
}
