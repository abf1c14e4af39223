# need PROGRAM...: skips the test when one of them is not on this machine.
need() {
    for program in "$@"; do
        if ! command -v "$program" >/dev/null; then
            echo "$program is not on this machine"
            exit 77
        fi
    done
}
