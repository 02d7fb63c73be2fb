package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"
)

const (
	caseTimeout = 30 * time.Second
	outputCap   = 4 << 20
)

// request is one line of input. Numbers in data become float64, as encoding/json has them.
type request struct {
	ID   json.RawMessage `json:"id"`
	Tpl  string          `json:"tpl"`
	Data interface{}     `json:"data"`
	Opts options         `json:"opts"`
}

type options struct {
	MissingKey string `json:"missingkey"`
	Functions  string `json:"functions"`
	Delims     string `json:"delims"` // left and right, with a space between
}

// answer is one line of output: exactly one of out, out_b64 (bytes that are no UTF-8) and err.
// Crash marks what no text compares with: a panic that Go itself did not turn into an error, or no end in time.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Out    *string         `json:"out,omitempty"`
	OutB64 *string         `json:"out_b64,omitempty"`
	Err    *string         `json:"err,omitempty"`
	Crash  bool            `json:"crash,omitempty"`
	late   bool
}

func serve(in *bufio.Reader, out *bufio.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			a := answerLine(line)
			if err := encoder.Encode(a); err != nil {
				return err
			}
			out.Flush() // the next line may be this process's last
			if a.late {
				return errors.New("a template is still running: start anew")
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func answerLine(line []byte) answer {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		text := "bad line: " + err.Error()
		return answer{ID: json.RawMessage("null"), Err: &text}
	}
	done := make(chan answer, 1)
	go func() { done <- render(r) }()
	select {
	case a := <-done:
		return a
	case <-time.After(caseTimeout):
		a := crashed(r, "no answer in time")
		a.late = true
		return a
	}
}

func render(r request) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = crashed(r, fmt.Sprint("panic: ", p))
		}
	}()
	output := &capped{}
	tmpl, err := parse(r.Tpl, r.Opts)
	if err == nil {
		err = tmpl.Execute(output, r.Data)
	}
	if output.full {
		return crashed(r, "too much output")
	}
	if err != nil {
		return failed(r, err)
	}
	return rendered(r, output.Bytes())
}

func parse(tpl string, o options) (*template.Template, error) {
	functions, known := functionSets[o.Functions]
	if !known {
		return nil, fmt.Errorf("unknown function set %q", o.Functions)
	}
	missing := o.MissingKey
	if missing == "" {
		missing = "error"
	}
	left, right, _ := strings.Cut(o.Delims, " ")
	return template.New("template").Delims(left, right).Option("missingkey=" + missing).Funcs(functions).Parse(tpl)
}

func rendered(r request, output []byte) answer {
	if utf8.Valid(output) {
		text := string(output)
		return answer{ID: r.ID, Out: &text}
	}
	coded := base64.StdEncoding.EncodeToString(output)
	return answer{ID: r.ID, OutB64: &coded}
}

func failed(r request, err error) answer {
	text := err.Error()
	return answer{ID: r.ID, Err: &text}
}

func crashed(r request, why string) answer {
	return answer{ID: r.ID, Err: &why, Crash: true}
}

// capped stops a template whose output grows without end.
type capped struct {
	bytes.Buffer
	full bool
}

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > outputCap {
		c.full = true
		return 0, errors.New("too much output")
	}
	return c.Buffer.Write(p)
}
