// Command reference renders templates with Go's own text/template and sprig.
//
// It is the yardstick of the conformance suite: whatever it answers is right by definition.
// Lines of JSON in, lines of JSON out, in the same order; see render.go for the protocol.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // the same zones on every machine
)

const memoryCap = 3 << 30

func init() {
	// "Local" is UTC, so that an answer does not depend on where it was computed.
	os.Setenv("TZ", "UTC")
	// Go cannot recover from printing a map that holds itself; at least it shall not take seconds to die of it.
	debug.SetMaxStack(64 << 20)
	// A template may ask Go for more memory than the machine has; then this process dies, not a neighbour.
	syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: memoryCap, Max: memoryCap})
}

func main() {
	mode := "render"
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	var err error
	switch mode {
	case "render":
		err = serve(in, out)
	case "measure":
		err = measure(in, out)
	case "names":
		err = names(out)
	default:
		err = fmt.Errorf("unknown mode %q: render, measure or names", mode)
	}
	out.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
