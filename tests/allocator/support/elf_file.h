/* Read-only view of a 64-bit shared object, as the dynamic linker sees it. */
#ifndef HAKMEM_TESTS_ELF_FILE_H
#define HAKMEM_TESTS_ELF_FILE_H

#include <elf.h>
#include <stddef.h>

typedef struct {
    const char *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Phdr *segments; /* header->e_phnum of them */
    const Elf64_Dyn *dynamic;   /* ends with DT_NULL */
    const Elf64_Sym *symbols;   /* .dynsym; symbol_count of them */
    size_t symbol_count;
    const char *strings; /* of .dynsym and the dynamic section */
} ElfFile;

/* The library under test, whose path ctest hands over in HAKMEM_LIBRARY_PATH. */
ElfFile elf_open_library(void);

/* First segment of `type`, or NULL. */
const Elf64_Phdr *elf_segment(const ElfFile *file, Elf64_Word type);

/* First dynamic entry with `tag`, or NULL. */
const Elf64_Dyn *elf_dynamic(const ElfFile *file, Elf64_Sxword tag);

/* What is mapped at `address`; the test fails if nothing is. */
const void *elf_at_address(const ElfFile *file, Elf64_Addr address);

#endif
