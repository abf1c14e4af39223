// Goroutines that take memory from C's malloc, fill it, pass it on and free what others took;
// callbacks from C into Go; threads that end because a goroutine was locked to them. Prints sums.
package main

/*
#include <stdlib.h>
#include <string.h>

static void *grown(void *block, size_t size) { return realloc(block, size); }
static unsigned long checksum(const unsigned char *block, size_t size) {
    unsigned long sum = 0;
    for (size_t i = 0; i < size; i++) sum += block[i];
    return sum;
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

type block struct {
	at   unsafe.Pointer
	size C.size_t
}

func draw(state *uint64, bound uint64) uint64 {
	*state = *state*6364136223846793005 + 1442695040888963407
	return (*state >> 33) % bound
}

func produce(seed uint64, out chan<- block) {
	state := seed
	for i := 0; i < 8000; i++ {
		size := C.size_t(1 + draw(&state, 4000))
		if i%400 == 0 {
			size = 400000
		}
		at := C.malloc(size)
		C.memset(at, C.int(i&127), size)
		out <- block{at, size}
		if i%16 == 0 {
			runtime.Gosched()
		}
	}
}

func consume(in <-chan block) (sum uint64) {
	kept := []block{}
	for b := range in {
		b.at = C.grown(b.at, b.size+100)
		sum += uint64(C.checksum((*C.uchar)(b.at), b.size))
		kept = append(kept, b)
		if len(kept) > 200 {
			C.free(kept[0].at)
			kept = kept[1:]
		}
	}
	for _, b := range kept {
		C.free(b.at)
	}
	return sum
}

func endingThreads() (sum uint64) {
	var wait sync.WaitGroup
	results := make([]uint64, 400)
	for i := range results {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			text := C.CString(fmt.Sprint("text ", i))
			results[i] = uint64(C.strlen(text))
			C.free(unsafe.Pointer(text))
		}(i)
	}
	wait.Wait()
	for _, part := range results {
		sum += part
	}
	return sum
}

func main() {
	blocks := make(chan block, 256)
	var producers, consumers sync.WaitGroup
	sums := make([]uint64, 8)
	for i := 0; i < 40; i++ {
		producers.Add(1)
		go func(i int) { defer producers.Done(); produce(uint64(i), blocks) }(i)
	}
	for i := range sums {
		consumers.Add(1)
		go func(i int) { defer consumers.Done(); sums[i] = consume(blocks) }(i)
	}
	producers.Wait()
	close(blocks)
	consumers.Wait()
	total := uint64(0)
	for _, sum := range sums {
		total += sum
	}
	fmt.Println("passed", total)
	fmt.Println("ended", endingThreads())
}
