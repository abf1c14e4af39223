# A Go program that calls C's malloc and free from many goroutines, which wander between threads.
source "$APPS/lib.sh"

setup() {
    mkdir -p source && cp "$APPS/work.go" source/main.go
    cd source && printf 'module example.org/work\n\ngo 1.19\n' >go.mod
    GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPROXY=off GOCACHE=$SETUP/cache CGO_ENABLED=1 go build -o ../work .
}

run() { "$SETUP/work"; }

"$@"
