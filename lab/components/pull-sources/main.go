// Where CRI-O and podman pull an image from, with a folder of registries.conf(5): one place a line, the first one first.
package main

import (
	_ "crypto/sha256"
	"fmt"
	"os"

	"github.com/containers/image/v5/docker/reference"
	"github.com/containers/image/v5/pkg/sysregistriesv2"
	"github.com/containers/image/v5/types"
)

func main() {
	if err := print(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func print(folder, image string) error {
	context := &types.SystemContext{
		SystemRegistriesConfPath:    os.DevNull,
		SystemRegistriesConfDirPath: folder,
	}
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return err
	}
	registry, err := sysregistriesv2.FindRegistry(context, image)
	if err != nil {
		return err
	}
	if registry == nil {
		fmt.Println(image)
		return nil
	}
	sources, err := registry.PullSourcesFromReference(named)
	if err != nil {
		return err
	}
	for _, source := range sources {
		of, err := sysregistriesv2.FindRegistry(context, source.Reference.String())
		if err != nil {
			return err
		}
		if of == nil || !of.Blocked {
			fmt.Println(source.Reference)
		}
	}
	return nil
}
