import type { SiteFile } from '../../../render/machine-config/site-files.ts';

/**
 * The MachineConfig by which assisted-service, and so the agent-based installer, gives a single node its own name server
 * (openshift/assisted-service, internal/network/manifests_generator.go). Its unit of dnsmasq waits for the pod network's bridge, and
 * its dispatcher writes /etc/resolv.conf at each change of an adapter. A MachineConfig whose name comes later wins, file by file and
 * unit by unit: so nothing of it has to be deleted, and all of it is there again without ours.
 */
export const ASSISTED_DNS = '50-master-dnsmasq-configuration';

const SCRIPT = '/usr/local/bin/dnsmasq_config.sh';

/** What replaces it, under the same names. */
export const assistedDnsFiles: readonly SiteFile[] = [
  {
    path: SCRIPT,
    mode: 0o755,
    contents: `#!/bin/sh
# The names of this node are in /etc/dnsmasq.d/sno-node.conf. Written by sno-agents.
exec rm -f /etc/dnsmasq.d/single-node.conf
`,
  },
  {
    path: '/etc/NetworkManager/dispatcher.d/forcedns',
    mode: 0o755,
    // The machine-config operator runs a script with another first line itself (forcedns-rhel9-fix).
    contents: `#!/bin/bash
# /etc/resolv.conf names this node itself, at every site. Written by sno-agents.
exit 0
`,
  },
];

export const assistedDnsUnit = `[Unit]
Description=Name server of this node

[Service]
ExecStartPre=${SCRIPT}
ExecStart=/usr/sbin/dnsmasq -k

[Install]
WantedBy=multi-user.target
`;

/** What of it needs no replacement: it says what ours says. */
export const ASSISTED_DNS_KEPT: readonly string[] = ['/etc/NetworkManager/conf.d/single-node.conf'];
