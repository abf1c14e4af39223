# git on a generated repository of 1,500 commits and 400 files: clone, log, blame, diff, merge,
# repack with threads, gc, bundle, fsck. Compared are the ids and digests of all of it.
source "$APPS/lib.sh"

setup() {
    git init -q --bare -b main origin.git
    /usr/bin/python3 "$APPS/history.py" | git -C origin.git fast-import --quiet
}

run() {
    export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='1100000000 +0000' GIT_COMMITTER_DATE='1100000000 +0000'
    git clone -q --no-local "file://$SETUP/origin.git" work && cd work
    git log --stat --graph --format='%H %an %s' | sha256sum
    git log -p -M -C --all -- 'd3/*' | sha256sum
    git blame d5/f5 | sha256sum
    git grep -n 'line 1[0-9]* of' HEAD~200 | sha256sum
    git diff HEAD~700 HEAD~3 | sha256sum
    git -c user.name=a -c user.email=a@example.org merge -q --no-edit origin/side 2>&1 | tail -1
    git rev-parse 'HEAD^{tree}'
    git repack -a -d -f -q --threads=2 --depth=40 --window=20
    git gc --quiet --aggressive --prune=now
    git bundle create -q ../all.bundle --all && git clone -q ../all.bundle ../copy
    git -C ../copy rev-parse 'HEAD^{tree}'
    git fsck --full --strict 2>&1 | sort
    git rev-list --objects --all --filter=blob:limit=1k | cut -c1-40 | sort | sha256sum
}

"$@"
