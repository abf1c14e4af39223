# What the scripts share. Each defines run, and setup if it has something to build; then: "$@"
#
#   APPS    this folder            SETUP   what setup built, in its working folder
#   SOURCE  the repository         HOME    the private, empty folder of this run
#
# What run prints must be the same whenever it runs: it is compared.
set -euo pipefail

setup() { :; }

# serve COMMAND...: a server in the background; it ends with this script, however that ends.
serve() { setpriv --pdeathsig KILL "$@" >>server.log 2>&1 & }

# await COMMAND...: until it succeeds, ten seconds at most.
await() {
    local i
    for ((i = 0; i < 200; i++)); do
        if "$@" >>await.out 2>&1; then return; fi
        sleep 0.05
    done
    echo "in ten seconds this never succeeded: $*" >&2
    tail -n 20 server.log await.out >&2 || true
    return 1
}

# unprivileged: words that run what follows as a user without rights, where we are root.
if [ "$(id -u)" = 0 ]; then
    unprivileged=(setpriv --reuid nobody --regid nogroup --clear-groups --pdeathsig KILL)
else
    unprivileged=(setpriv --pdeathsig KILL)
fi

# free_port: a TCP port of the loopback device that nobody listens on.
free_port() {
    /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
