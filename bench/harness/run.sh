#!/bin/sh
# Starts a module of this folder by the Python that ./bootstrap has set up: run.sh MODULE ARGUMENTS...
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
python=$root/.venv/bin/python
module=$1
shift
if ! [ -x "$python" ]; then
    python=python3
    "$python" -c "import click, pydantic, rich, scipy" 2>/dev/null || {
        echo "Python packages are missing; this installs them: $root/bootstrap doctor" >&2
        exit 4
    }
fi
PYTHONPATH=$root exec "$python" -m "bench.harness.$module" "$@"
