# Shadow stacks: the processor keeps a second copy of each return address, and a return to another
# place faults. One library that does not say that it is ready for them switches them off for the
# whole process, or cannot be loaded. Nothing of ours touches a return address, so all that it takes
# is the note that says so (.note.gnu.property).
include(CheckCCompilerFlag)
include(CheckLinkerFlag)

# `return` is the note alone. `full` begins each function with endbr64: one instruction more in
# malloc and one in free, for a check of indirect jumps (IBT) that Linux has for the kernel only.
check_c_compiler_flag(-fcf-protection=return HAKMEM_HAS_CF_PROTECTION)
# AArch64: functions that save their return address sign it; malloc and free save none while the
# magazine serves them. `gcs` is the note for guarded control stacks. No `bti`: one instruction in
# each function, and the system asks each library for itself.
check_c_compiler_flag(-mbranch-protection=pac-ret+gcs HAKMEM_HAS_GCS)
check_c_compiler_flag(-mbranch-protection=pac-ret HAKMEM_HAS_PAC_RET)
# The linker writes the note only where all objects have it. Those of libc that begin and end each
# library (crti.o, crtn.o: a call and a return) have it on few systems.
check_linker_flag(C -Wl,-z,shstk HAKMEM_LINKS_SHSTK)
check_linker_flag(C -Wl,-z,gcs=always HAKMEM_LINKS_GCS)

set(HAKMEM_SHADOW_STACKS "")
set(HAKMEM_SHADOW_STACKS_LINK "")
if(HAKMEM_HAS_CF_PROTECTION)
  set(HAKMEM_SHADOW_STACKS -fcf-protection=return)
  if(HAKMEM_LINKS_SHSTK)
    set(HAKMEM_SHADOW_STACKS_LINK -Wl,-z,shstk)
  endif()
elseif(HAKMEM_HAS_GCS AND HAKMEM_LINKS_GCS)
  set(HAKMEM_SHADOW_STACKS -mbranch-protection=pac-ret+gcs)
  set(HAKMEM_SHADOW_STACKS_LINK -Wl,-z,gcs=always)
elseif(HAKMEM_HAS_PAC_RET)
  set(HAKMEM_SHADOW_STACKS -mbranch-protection=pac-ret)
endif()
