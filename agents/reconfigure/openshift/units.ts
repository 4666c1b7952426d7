/**
 * What makes the network of the pods at each boot (machine-config operator 4.20 and 5.0, templates/common/_base/units), in the order in
 * which it runs: the first waits for a default route without an end, and writes which address is the host's; the second makes the
 * bridge of the adapter that has it, and tries again after a quarter of an hour.
 */
export const BRIDGE_UNITS = ['nodeip-configuration.service', 'ovs-configuration.service'] as const;

/** Requires both; CRI-O and the kubelet require it, and are started behind it. */
export const BEFORE_RUNTIME = 'kubelet-dependencies.target';

export const RUNTIME = 'crio.service';
export const KUBELET = 'kubelet.service';
