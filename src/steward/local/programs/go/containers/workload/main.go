// A small workload for samples and tests: an HTTP server that can be told to misbehave, or a job.
//
// Each flag can also be set by an environment variable: -fail-ready-after by WORKLOAD_FAIL_READY_AFTER. It writes no
// file, so it runs as any user on a read-only file system.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

type options struct {
	listen          string
	message         string
	job             bool
	start           time.Duration
	run             time.Duration
	exitCode        int
	stop            time.Duration
	failHealthAfter int64
	failReadyAfter  int64
}

func main() {
	chosen := parse()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	log.SetFlags(log.LUTC | log.Ldate | log.Ltime)
	log.Printf("started as uid %d", os.Getuid())
	if !sleep(ctx, chosen.start) {
		return
	}
	if chosen.job {
		os.Exit(runJob(ctx, chosen))
	}
	os.Exit(serve(ctx, chosen))
}

func parse() options {
	var chosen options
	flag.StringVar(&chosen.listen, "listen", ":8080", "address of the HTTP server")
	flag.StringVar(&chosen.message, "message", "ok", "answer to /")
	flag.BoolVar(&chosen.job, "job", false, "serve nothing; end after -run")
	flag.DurationVar(&chosen.start, "start", 0, "time before it serves or works")
	flag.DurationVar(&chosen.run, "run", 0, "time until it ends by itself; 0 means at once for a job, never for a server")
	flag.IntVar(&chosen.exitCode, "exit-code", 0, "exit code when it ends by itself")
	flag.DurationVar(&chosen.stop, "stop", 0, "time between SIGTERM and the end of the server")
	flag.Int64Var(&chosen.failHealthAfter, "fail-health-after", -1, "number of requests to /healthz that succeed; -1 means all")
	flag.Int64Var(&chosen.failReadyAfter, "fail-ready-after", -1, "number of requests to /ready that succeed; -1 means all")
	flag.VisitAll(setFromEnvironment)
	flag.Parse()
	return chosen
}

func setFromEnvironment(each *flag.Flag) {
	name := "WORKLOAD_" + strings.ToUpper(strings.ReplaceAll(each.Name, "-", "_"))
	value, found := os.LookupEnv(name)
	if !found {
		return
	}
	if err := each.Value.Set(value); err != nil {
		log.Fatalf("%s: %v", name, err)
	}
}

func runJob(ctx context.Context, chosen options) int {
	if !sleep(ctx, chosen.run) {
		return 128 + int(syscall.SIGTERM)
	}
	log.Printf("job ends with exit code %d", chosen.exitCode)
	return chosen.exitCode
}

func serve(ctx context.Context, chosen options) int {
	server := &http.Server{Addr: chosen.listen, Handler: handler(chosen), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		log.Print(err)
		return 1
	case <-lifetime(chosen.run):
		log.Printf("server ends with exit code %d", chosen.exitCode)
		return chosen.exitCode
	case <-ctx.Done():
		return shutDown(server, chosen.stop)
	}
}

func lifetime(run time.Duration) <-chan time.Time {
	if run <= 0 {
		return nil
	}
	return time.After(run)
}

func shutDown(server *http.Server, wait time.Duration) int {
	log.Print("got SIGTERM")
	time.Sleep(wait)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil && !errors.Is(err, http.ErrServerClosed) {
		log.Print(err)
	}
	return 0
}

func handler(chosen options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/healthz", probe(chosen.failHealthAfter))
	mux.Handle("/ready", probe(chosen.failReadyAfter))
	mux.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) { fmt.Fprintln(answer, chosen.message) })
	return mux
}

// probe succeeds for the first `successes` requests, or always if that is negative.
func probe(successes int64) http.HandlerFunc {
	var requests atomic.Int64
	return func(answer http.ResponseWriter, _ *http.Request) {
		if count := requests.Add(1); successes >= 0 && count > successes {
			http.Error(answer, fmt.Sprintf("fails after %d requests, as set", successes), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(answer, "ok")
	}
}

// sleep returns whether the time passed; false means that the program was asked to end.
func sleep(ctx context.Context, length time.Duration) bool {
	select {
	case <-time.After(length):
		return true
	case <-ctx.Done():
		return false
	}
}
