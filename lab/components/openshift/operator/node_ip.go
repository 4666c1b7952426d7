package main

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
)

const (
	nodeUnits     = "/etc/systemd/system"
	nodeAddress   = "/run/nodeip-configuration"
	nodeDropIn    = "20-nodenet.conf"
	documentation = "192.0.2.1:9"
)

// setNodeIP writes this host's address to drop-ins of kubelet and CRI-O: the address from which other
// networks are reached.
func setNodeIP(arguments []string) error {
	args, names, err := parse(arguments, []option{
		{name: "retry-on-failure", boolean: true},
		{name: "network-type"},
	})
	if err != nil {
		return err
	}
	if len(names) == 0 || names[0] != "set" {
		return errors.New("unknown command for \"runtimecfg node-ip\"")
	}
	if len(names) > 1 {
		return fmt.Errorf("the stand-in takes no hint: %s", names[1])
	}
	if args.of("network-type") == "" {
		return errors.New("missing --network-type")
	}
	// Nothing is sent: the socket only gets its own address.
	connection, err := net.Dial("udp", documentation)
	if err != nil {
		return err
	}
	defer connection.Close()
	address, _, err := net.SplitHostPort(connection.LocalAddr().String())
	if err != nil {
		return err
	}
	for path, text := range map[string]string{
		filepath.Join(nodeUnits, "kubelet.service.d", nodeDropIn): fmt.Sprintf("[Service]\nEnvironment=\"KUBELET_NODE_IP=%s\" \"KUBELET_NODE_IPS=%s\"\n", address, address),
		filepath.Join(nodeUnits, "crio.service.d", nodeDropIn):    fmt.Sprintf("[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=%s\"\n", address),
		filepath.Join(nodeAddress, "primary-ip"):                  address,
	} {
		if err := writeFile(path, []byte(text), publicMode); err != nil {
			return err
		}
	}
	return nil
}
