"""Every flag that the pipeline gives to a compiler, linker or BOLT, each with its reason.

What the library needs to be correct at all (no builtin malloc, TLS model, visibility) stands in
allocator/CMakeLists.txt, because every build needs it. Here stands what a *stage* adds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Flag:
    """One flag and why it is there. ``{name}`` in the text is filled in by :func:`texts`."""

    text: str
    why: str


Flags = tuple[Flag, ...]

COMPILE: Flags = (
    Flag("-O2", "what distributions build with; -O3 only makes the library larger"),
    Flag("-g", "the debug file beside the library, and names in reports"),
    Flag("-gdwarf-4", "valgrind 3.19 aborts on clang's DWARF 5"),
    Flag("-Qn", "no compiler banner: equal inputs give equal bytes"),
    Flag("-ffile-prefix-map={root}=.", "no path of this checkout in the output"),
    Flag("-ffile-prefix-map={room}=.", "no path of the private build folder either"),
)
LINK: Flags = (
    Flag("-fuse-ld=lld", "the only linker that takes a symbol order for static functions"),
    Flag("-Wl,--build-id=sha1", "ties library, debug file and profile together"),
    Flag("-Wl,-z,now", "all symbols bound at start: no lazy binding inside malloc, full RELRO"),
    Flag("-Wl,-z,relro", "tables are read-only after start"),
)
PROFILE_NAMES: Flags = (
    Flag("-mllvm", "passes the next flag to LLVM"),
    Flag(
        "-static-func-full-module-prefix=false",
        "static functions are file;name in a profile, without the folder: a profile made in "
        "another checkout fits; no two sources of the library have the same file name",
    ),
)
ALIGNED: Flags = (
    Flag("-falign-functions=64", "a hot function starts on a cache line: the cheapest layout gain"),
)
TUNED: Flags = (
    Flag(
        "-ffunction-sections",
        "one section per function, so that an order can be given; only "
        "together with an order (alone it cost 0.9 % and 91 % more I-cache misses)",
    ),
    *ALIGNED,
)
INSTRUMENT: Flags = (
    Flag("-fprofile-generate", "counters for PGO at the level of LLVM's intermediate code"),
    Flag("-fprofile-update=atomic", "threads and forked processes share counters"),
    Flag("-mllvm", "passes the next flag to LLVM"),
    Flag(
        "-runtime-counter-relocation",
        "counters live in a shared mapping of the profile file, so "
        "processes that _exit, are killed or fork are counted exactly",
    ),
    Flag("-mllvm", "passes the next flag to LLVM"),
    Flag("-disable-vp=true", "value profiling cannot be relocated"),
    *PROFILE_NAMES,
)
INSTRUMENT_LINK: Flags = (Flag("-fprofile-generate", "links the profile runtime"),)
PGO: Flags = (
    Flag("-fprofile-use={profile}", "the merged counts of the training"),
    Flag("-mllvm", "passes the next flag to LLVM"),
    Flag("-pgo-warn-missing-function", "a profile that does not fit says so in the log"),
    Flag("-mllvm", "passes the next flag to LLVM"),
    Flag("-disable-vp=true", "as in the training: no value sites to look for"),
    *PROFILE_NAMES,
)
LTO: Flags = (
    Flag("-flto", "inlines across files, by the profile; full LTO keeps static names unique"),
)
LTO_LINK: Flags = (
    Flag("-flto", "link time optimisation, as compiled"),
    Flag("-fprofile-use={profile}", "link time passes read the same profile"),
    Flag("-Wl,--lto-O2", "the level of the compile step"),
)
ORDER_LINK: Flags = (
    Flag("-Wl,--emit-relocs", "BOLT can only move functions when it sees every relocation"),
    Flag("-Wl,--symbol-ordering-file={order}", "hot.txt first, cold.txt last"),
    Flag("-Wl,-T,{script}", "code that never ran apart from the rest, in a mapping of its own"),
    Flag(
        "-Wl,--no-warn-symbol-ordering",
        "malloc also exists in libc, which lld warns about; the "
        "stage reads the order back from the library instead",
    ),
)
# The second training pass counts after inlining, which with LTO happens in the linker: what is
# said to the compiler for the first pass has to be said to the linker here.
CONTEXT: Flags = (
    Flag("-fcs-profile-generate", "counters of the second pass: each inlined copy by itself"),
)
CONTEXT_LINK: Flags = (
    Flag("-fcs-profile-generate", "the linker's compiler inserts these counters"),
    Flag("-Wl,-mllvm,-instrprof-atomic-counter-update-all", "-fprofile-update=atomic"),
    Flag("-Wl,-mllvm,-runtime-counter-relocation", "as in the first pass"),
    Flag("-Wl,-mllvm,-disable-vp=true", "as in the first pass"),
    Flag(
        "{bias}",
        "a source file with the one variable that relocated counters need: the linker would take "
        "the runtime's weak definition, and the profile be refused at run time",
    ),
)
BOLT_INSTRUMENT: Flags = (
    Flag("--instrument", "block and edge counts, on any machine"),
    Flag("--instrumentation-file={prefix}", "absolute, because trained programs change folders"),
    Flag("--instrumentation-file-append-pid", "one file per process"),
)
BOLT_RUNTIME: Flags = (
    Flag(
        "--runtime-instrumentation-lib={runtime}",
        "BOLT links its own machine's run-time library, which fits no other architecture",
    ),
)
BOLT_ORDER: Flags = (
    Flag("--reorder-functions=cdsort", "BOLT's own order, to name all functions"),
    Flag("--generate-function-order={order}", "the list with every function in BOLT's spelling"),
)
# No --icf: functions folded into one could not both stand where the list wants them.
BOLT: Flags = (
    Flag("--reorder-blocks=ext-tsp", "hot blocks of a function become a straight line"),
    Flag("--reorder-functions=user", "the order is layouts/, not a guess of the day"),
    Flag(
        "--function-order={order}",
        "every function that is moved is in it: others would be "
        "numbered from 0 again and scramble the list",
    ),
    Flag("--lite=1", "functions that are not in the list, as they never ran, stay where they are"),
    Flag("--split-functions", "cold blocks leave the hot range"),
    Flag("--split-strategy=profile2", "hot and cold halves, decided by the profile"),
    Flag("--split-all-cold", "functions that never ran go to the cold part as a whole"),
    Flag("--plt=all", "libc is called by its address: one jump less, and no page of jumps touched"),
    Flag("--no-huge-pages", "else a 20 KB library becomes 4 MB of alignment"),
    Flag("--align-text=64", "code begins behind the program headers, not on a page of its own"),
    Flag("--align-functions={align}", "functions start on a cache line, or as the geometry says"),
    Flag(
        "--align-functions-max-bytes={align}", "without it alignment stops at 32 bytes of padding"
    ),
    Flag(
        "--use-compact-aligner=0",
        "else small functions are packed by an estimate of their size, and some straddle a line",
    ),
    Flag("--update-debug-sections", "the debug file shows moved code at its new place"),
    Flag(
        "--enable-bat",
        "samples of the published code find their place in the code that BOLT was given; the "
        "section stays in the unstripped library and its debug file",
    ),
    Flag("--bolt-info=0", "no command line in the output: equal inputs give equal bytes"),
    Flag("--dyno-stats", "estimated branches and instructions before and after, for the report"),
)
# The same code once more, kept as it was compiled, so that it can be linked in any order.
KEEP_CODE: Flags = (
    Flag("-Wl,--lto-obj-path={code}", "the object file that the linker's compiler has made"),
)
STRIP: Flags = (
    Flag(
        "--strip-all",
        "symbols, and relocations that only BOLT wanted; by llvm-objcopy, because GNU strip "
        "breaks what BOLT has written",
    ),
    Flag("--keep-section=.note.stapsdt", "where the probes are: docs/probes.md"),
)


def texts(*tables: Flags, **values: object) -> list[str]:
    """Return the flags of ``tables`` as arguments, with ``{name}`` replaced by ``values``."""
    return [flag.text.format(**values) for table in tables for flag in table]


def spelled(*tables: Flags) -> list[str]:
    """Return the flags of ``tables`` as they stand here, for keys and manifests."""
    return [flag.text for table in tables for flag in table]
