/* The library exports the family and hak_*, all of it, and nothing else; and what it calls of these
 * by name stays replaceable after BOLT. */
#include <stdbool.h>
#include <string.h>

#include "../support/check.h"
#include "../support/elf_file.h"
#include "../support/family.h"

static bool in_family(const char *name) {
    for (size_t i = 0; family_names[i]; i++)
        if (strcmp(name, family_names[i]) == 0)
            return true;
    return false;
}

static bool is_exported(const ElfFile *file, const char *name) {
    for (size_t i = 1; i < file->symbol_count; i++)
        if (file->symbols[i].st_shndx != SHN_UNDEF &&
            strcmp(file->strings + file->symbols[i].st_name, name) == 0)
            return true;
    return false;
}

/* A program may have its own in place of each of C++'s operators, and the library calls that. BOLT
 * does not know: it makes a call by way of the PLT one of ours, and takes any name with the same
 * address for the one that is looked up. */
static bool is_safe_to_replace(const ElfFile *file, const Elf64_Sym *symbol, bool by_plt) {
    const char *name = file->strings + symbol->st_name;
    if (by_plt)
        return say("called by way of the PLT: %s", name), false;
    for (size_t i = 1; i < file->symbol_count; i++) {
        const Elf64_Sym *other = &file->symbols[i];
        if (other != symbol && other->st_value == symbol->st_value)
            return say("looked up, but the same as %s: %s", file->strings + other->st_name, name),
                   false;
    }
    return true;
}

static int wrong_in(const ElfFile *file, Elf64_Sxword table_tag, Elf64_Sxword size_tag) {
    const Elf64_Dyn *table = elf_dynamic(file, table_tag), *size = elf_dynamic(file, size_tag);
    if (!table || !size)
        return 0;
    const Elf64_Rela *entries = elf_at_address(file, table->d_un.d_ptr);
    int wrong = 0;
    for (size_t i = 0; i < size->d_un.d_val / sizeof *entries; i++) {
        const Elf64_Sym *symbol = &file->symbols[ELF64_R_SYM(entries[i].r_info)];
        bool is_operator = strncmp(file->strings + symbol->st_name, "_Z", 2) == 0;
        if (symbol->st_shndx != SHN_UNDEF && is_operator)
            wrong += !is_safe_to_replace(file, symbol, table_tag == DT_JMPREL);
    }
    return wrong;
}

int main(void) {
    ElfFile file = elf_open_library();
    int wrong = wrong_in(&file, DT_RELA, DT_RELASZ) + wrong_in(&file, DT_JMPREL, DT_PLTRELSZ);
    for (size_t i = 0; family_names[i]; i++) {
        if (!is_exported(&file, family_names[i])) {
            say("not exported: %s", family_names[i]);
            wrong++;
        }
    }
    for (size_t i = 1; i < file.symbol_count; i++) {
        const char *name = file.strings + file.symbols[i].st_name;
        bool nameless = !*name; /* symbols of sections, which some linkers write */
        if (file.symbols[i].st_shndx == SHN_UNDEF || nameless || in_family(name) ||
            strncmp(name, "hak_", 4) == 0)
            continue;
        say("exported, but not of the family: %s", name);
        wrong++;
    }
    CHECK_THAT(wrong == 0, "%d names", wrong);
    return 0;
}
