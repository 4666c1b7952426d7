// Creates the manifests of a folder with the code that cluster-bootstrap runs: the loop of
// library-go, with a client of the same configuration.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/openshift/library-go/pkg/assets/create"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: create-loop KUBECONFIG MANIFESTS [unlimited]")
	}
	config, err := clientcmd.BuildConfigFromFlags("", args[0])
	if err != nil {
		return err
	}
	if len(args) > 2 && args[2] == "unlimited" {
		// Negative: disables client-go's limit of 5 requests a second.
		config.QPS = -1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return create.EnsureManifestsCreated(ctx, args[1], config, create.CreateOptions{})
}
