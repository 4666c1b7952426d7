//go:build tools

package tools

import (
	_ "github.com/openshift/machine-config-operator/cmd/machine-config-controller"
	_ "github.com/openshift/machine-config-operator/cmd/machine-config-operator"
	_ "github.com/openshift/machine-config-operator/cmd/machine-config-server"
)
