// Command operator stands in for operators of OpenShift that cannot be built from Go modules.
//
// Under the name of an operator's program it takes the arguments that the operator takes, refuses
// what the operator refuses, and writes a tree of the same shape. Nothing here reconciles a cluster; the
// cluster-version operator only reports whether the other operators are available.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// command runs a subcommand with its arguments.
type command func(args []string) error

// programs has the subcommands of each program, by the program's file name.
var programs = map[string]map[string]command{
	"authentication-operator":   {"render": renderAuthentication},
	"cloud-credential-operator": {"render": renderCloudCredentials},
	"cluster-config-operator":   {"render": renderConfig},
	"cluster-etcd-operator":     {"render": renderEtcd},
	"cluster-kube-apiserver-operator": {
		"render":          renderKubeAPIServer,
		"insecure-readyz": serveInsecureReadyz,
	},
	"cluster-kube-controller-manager-operator": {"render": renderKubeControllerManager},
	"cluster-kube-scheduler-operator":          {"render": renderKubeScheduler},
	"cluster-node-tuning-operator": {
		"render":            renderNodeTuning,
		"render-bootcmd-mc": renderBootCommandLine,
	},
	"cluster-policy-controller": {"start": startClusterPolicyController},
	"cluster-version-operator": {
		"image":  printImage,
		"render": renderClusterVersion,
		"start":  startClusterVersion,
	},
	"ingress-operator": {"render": renderIngress},
	"runtimecfg":       {"node-ip": setNodeIP},
}

// Exit codes of the operators: cobra's for wrong usage, klog's for a fatal error.
const (
	exitUsage = 1
	exitFatal = 255
)

func main() {
	name := filepath.Base(os.Args[0])
	subcommands, known := programs[name]
	if !known {
		fail(exitUsage, fmt.Errorf("there is no operator with the program %q", name))
	}
	if len(os.Args) < 2 {
		fail(exitUsage, fmt.Errorf("%s: missing command", name))
	}
	run, known := subcommands[os.Args[1]]
	if !known {
		fail(exitUsage, fmt.Errorf("unknown command %q for %q", os.Args[1], name))
	}
	var usage usageError
	if err := run(os.Args[2:]); errors.As(err, &usage) {
		fail(exitUsage, err)
	} else if err != nil {
		fail(exitFatal, err)
	}
}

func fail(code int, err error) {
	fmt.Fprintf(os.Stderr, "Error: %v\n", err)
	os.Exit(code)
}
