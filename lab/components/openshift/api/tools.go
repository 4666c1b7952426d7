//go:build tools

package tools

import _ "github.com/openshift/api/payload-command/cmd/render"
