#include "elf_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static const void *at(const ElfFile *file, size_t offset) {
    CHECK_THAT(offset < file->size, "offset %zx of %zx", offset, file->size);
    return file->bytes + offset;
}

static ElfFile map_file(const char *path) {
    ElfFile file = {0};
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_THAT(descriptor >= 0 && fstat(descriptor, &status) == 0, "%s", path);
    file.size = (size_t)status.st_size;
    file.bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    CHECK(file.bytes != MAP_FAILED);
    close(descriptor);
    CHECK(memcmp(file.bytes, ELFMAG, SELFMAG) == 0 && file.bytes[EI_CLASS] == ELFCLASS64);
    return file;
}

static void find_symbols(ElfFile *file) {
    const Elf64_Shdr *sections = at(file, file->header->e_shoff);
    for (size_t i = 0; i < file->header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        file->symbols = at(file, sections[i].sh_offset);
        file->symbol_count = sections[i].sh_size / sizeof(Elf64_Sym);
        file->strings = at(file, sections[sections[i].sh_link].sh_offset);
    }
    CHECK(file->symbols);
}

ElfFile elf_open_library(void) {
    const char *path = getenv("HAKMEM_LIBRARY_PATH");
    CHECK_THAT(path, "HAKMEM_LIBRARY_PATH is not set");
    ElfFile file = map_file(path);
    file.header = at(&file, 0);
    file.segments = at(&file, file.header->e_phoff);
    const Elf64_Phdr *dynamic = elf_segment(&file, PT_DYNAMIC);
    CHECK(dynamic);
    file.dynamic = at(&file, dynamic->p_offset);
    find_symbols(&file);
    return file;
}

const Elf64_Phdr *elf_segment(const ElfFile *file, Elf64_Word type) {
    for (size_t i = 0; i < file->header->e_phnum; i++)
        if (file->segments[i].p_type == type)
            return &file->segments[i];
    return NULL;
}

const Elf64_Dyn *elf_dynamic(const ElfFile *file, Elf64_Sxword tag) {
    for (const Elf64_Dyn *entry = file->dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry;
    return NULL;
}

const void *elf_at_address(const ElfFile *file, Elf64_Addr address) {
    for (size_t i = 0; i < file->header->e_phnum; i++) {
        const Elf64_Phdr *one = &file->segments[i];
        if (one->p_type == PT_LOAD && address - one->p_vaddr < one->p_filesz)
            return at(file, one->p_offset + (address - one->p_vaddr));
    }
    CHECK_THAT(false, "nothing at %llx", (unsigned long long)address);
    return NULL;
}
