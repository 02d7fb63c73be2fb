// The programs of a node in one binary: it is the program whose name it was called by.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	name := filepath.Base(os.Args[0])
	switch name {
	case "kubelet":
		serve(kubelet.NewKubeletCommand(context.Background()))
	case "kube-proxy":
		serve(proxy.NewProxyCommand())
	default:
		fmt.Fprintf(os.Stderr, "%s: call me kubelet or kube-proxy\n", name)
		os.Exit(2)
	}
}

func serve(command *cobra.Command) {
	os.Exit(cli.Run(command))
}
