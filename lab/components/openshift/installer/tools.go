//go:build tools

package tools

import _ "github.com/openshift/installer/cmd/openshift-install"
