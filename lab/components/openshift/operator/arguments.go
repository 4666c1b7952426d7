package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// usageError is an argument that the operator's command line does not know.
type usageError struct{ error }

// option describes a flag of a subcommand.
type option struct {
	name string
	// standard is the value of a flag that is not given.
	standard string
	required bool
	boolean  bool
}

// arguments has the values of the flags by name.
type arguments map[string]*values

// values collects a flag that may be repeated; the flag's text can have several, separated by commas.
type values struct {
	all     []string
	boolean bool
}

func (v *values) String() string     { return strings.Join(v.all, ",") }
func (v *values) IsBoolFlag() bool   { return v.boolean }
func (v *values) Set(s string) error { v.all = append(v.all, s); return nil }

// of returns the last value of a flag, or "".
func (a arguments) of(name string) string {
	all := a[name].all
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// list returns all values of a flag.
func (a arguments) list(name string) []string {
	var all []string
	for _, text := range a[name].all {
		all = append(all, strings.Split(text, ",")...)
	}
	return all
}

// parse reads flags, which may stand between other arguments as with the operators' own parser.
func parse(args []string, groups ...[]option) (arguments, []string, error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	parsed := arguments{}
	var options []option
	for _, group := range groups {
		options = append(options, group...)
	}
	for _, option := range options {
		parsed[option.name] = &values{boolean: option.boolean}
		set.Var(parsed[option.name], option.name, "")
	}
	var others []string
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			return nil, nil, usageError{err}
		}
		if args = set.Args(); len(args) > 0 {
			others, args = append(others, args[0]), args[1:]
		}
	}
	for _, option := range options {
		value := parsed[option.name]
		if len(value.all) == 0 && option.standard != "" {
			value.all = []string{option.standard}
		}
		if option.required && parsed.of(option.name) == "" {
			return nil, nil, fmt.Errorf("missing required flag: --%s", option.name)
		}
	}
	return parsed, others, nil
}

// templateFolder is where the operators' images have their definitions.
const templateFolder = "/usr/share/bootkube/manifests"

// genericOptions are the flags that render commands share.
func genericOptions() []option {
	return []option{
		{name: "asset-input-dir", required: true},
		{name: "asset-output-dir", required: true},
		{name: "config-output-file", required: true},
		{name: "templates-input-dir", standard: templateFolder, required: true},
		{name: "config-override-files"},
		{name: "rendered-manifest-files"},
		{name: "payload-version"},
	}
}

// manifestOptions are the flags with what a static pod is made of.
func manifestOptions(component string) []option {
	return []option{
		{name: "manifest-namespace", standard: "openshift-" + component, required: true},
		{name: "manifest-image", standard: "openshift/origin-hyperkube:latest", required: true},
		{name: "manifest-operator-image"},
		{name: "manifest-image-pull-policy", standard: "IfNotPresent", required: true},
		{name: "manifest-config-host-path", standard: "/etc/kubernetes/bootstrap-configs", required: true},
		{name: "manifest-secrets-host-path", standard: "/etc/kubernetes/bootstrap-secrets", required: true},
		{name: "manifest-config-file-name", standard: component + "-config.yaml", required: true},
		{name: "manifest-cloud-provider-host-path", standard: "/etc/kubernetes/cloud", required: true},
	}
}
