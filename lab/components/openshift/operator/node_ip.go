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

// setNodeIP writes this host's address to drop-ins of kubelet and CRI-O: that in the network of the hint,
// which is an address, or without one that from which other networks are reached.
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
	if args.of("network-type") == "" {
		return errors.New("missing --network-type")
	}
	address, err := nodeIP(names[1:])
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

func nodeIP(hints []string) (string, error) {
	for _, hint := range hints {
		wanted := net.ParseIP(hint)
		if wanted == nil {
			return "", fmt.Errorf("the stand-in takes addresses as hints only: %s", hint)
		}
		addresses, err := net.InterfaceAddrs()
		if err != nil {
			return "", err
		}
		for _, each := range addresses {
			own, network, err := net.ParseCIDR(each.String())
			if err == nil && network.Contains(wanted) {
				return own.String(), nil
			}
		}
		return "", fmt.Errorf("no address of this host is in the network of %s", hint)
	}
	// Nothing is sent: the socket only gets its own address.
	connection, err := net.Dial("udp", documentation)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	address, _, err := net.SplitHostPort(connection.LocalAddr().String())
	return address, err
}
