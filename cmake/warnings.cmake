# One list of warnings for everything that is compiled here: hakmem_warnings(target).
# They fail no build but those that ask for it: a project that fetches the library may have -Werror.
add_library(hakmem_warnings INTERFACE)
target_compile_options(hakmem_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes
  -Wpointer-arith -Wvla -Wundef $<IF:$<BOOL:${HAKMEM_WERROR}>,-Werror,-Wno-error>)
