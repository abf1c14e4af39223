#!/bin/sh
# A whole program for `pipeline versus`: python3 parses and compiles the sources of the pipeline.
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
exec python3 -S -c '
import ast, pathlib
for path in sorted(pathlib.Path("pipeline").rglob("*.py")):
    compile(ast.parse(path.read_text()), str(path), "exec")
'
