package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"syscall"
	"text/template"
	"time"
)

// measured is the time of one template: the best mean of several rounds, in nanoseconds.
type measured struct {
	ID      json.RawMessage `json:"id"`
	ParseNs float64         `json:"parse_ns"`
	ExecNs  float64         `json:"exec_ns"`
}

const (
	rounds    = 5
	roundTime = 40 * time.Millisecond
)

// measure reads the lines that render reads and answers with times. Parsing fills the function table each time,
// as the Go operator does for every string it renders.
func measure(in *bufio.Reader, out *bufio.Writer) error {
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := decoder.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		m, err := measureOne(r)
		if err != nil {
			return err
		}
		if err := encoder.Encode(m); err != nil {
			return err
		}
		out.Flush()
	}
}

func measureOne(r request) (measured, error) {
	tmpl, err := parse(r.Tpl, r.Opts)
	if err != nil {
		return measured{}, err
	}
	var buffer bytes.Buffer
	if err := tmpl.Execute(&buffer, r.Data); err != nil {
		return measured{}, err
	}
	parsing := best(func() { parse(r.Tpl, r.Opts) })
	return measured{ID: r.ID, ParseNs: parsing, ExecNs: best(func() { execute(tmpl, r.Data) })}, nil
}

func execute(tmpl *template.Template, data interface{}) {
	var buffer bytes.Buffer
	tmpl.Execute(&buffer, data)
	_ = buffer.String()
}

// best doubles the count until a round is long enough to trust, then keeps the fastest of several such rounds.
func best(work func()) float64 {
	count := 1
	for timed(work, count) < roundTime {
		count *= 2
	}
	lowest := timed(work, count)
	for round := 1; round < rounds; round++ {
		lowest = min(lowest, timed(work, count))
	}
	return float64(lowest.Nanoseconds()) / float64(count)
}

func timed(work func(), count int) time.Duration {
	start := spent()
	for range count {
		work()
	}
	return spent() - start
}

// spent is processor time, collector included: what else runs on the machine does not count.
func spent() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
