//go:build tools

package tools

import _ "github.com/cri-o/cri-o/cmd/crio"
