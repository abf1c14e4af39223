# python3 runs its own test modules; compared are the results of each. MODULES names them, IGNORE a
# test that is left out.
source "$APPS/lib.sh"

run() {
    local code=0
    # shellcheck disable=SC2086  # a list of modules
    /usr/bin/python3 -m test -j2 --timeout 200 ${IGNORE:+-i "$IGNORE"} $MODULES >test.out 2>&1 || code=$?
    sed -n 's/^.*\] \(test_[a-z0-9_]*\) \(passed\|failed\|crashed\|skipped\).*/\1 \2/p' test.out | sort
    [ $code = 0 ] || tail -n 60 test.out >&2
    return $code
}

"$@"
