// The program takes over the static pod of a component with the controllers of OpenShift's own
// operators: library-go's for revisions, installer pods, pruning and the state of static pods.
package main

import (
	"context"
	"os"

	"github.com/openshift/library-go/pkg/operator/staticpod/installerpod"
	"github.com/openshift/library-go/pkg/operator/staticpod/prune"
	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
)

// program is the path in the images whose pods run "installer" and "prune".
const program = "/usr/bin/static-pod-operator"

func main() {
	root := &cobra.Command{Use: "static-pod-operator", SilenceUsage: true}
	root.AddCommand(operatorCommand(), installerpod.NewInstaller(context.Background()), prune.NewPrune())
	os.Exit(cli.Run(root))
}
