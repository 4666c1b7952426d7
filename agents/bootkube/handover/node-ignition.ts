import { readFile } from 'node:fs/promises';
import { addressEvents } from '../../../lib/change/identity/address-events.ts';
import { hostCommandNames } from '../../../lib/engine/agents/commands.ts';
import { agentLinks, commandLinks } from '../../../lib/engine/agents/links.ts';
import { agentsOf } from '../../../lib/engine/agents/table.ts';
import { issueLink } from '../../../lib/engine/console/publish-issue.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { kubeletEnvironmentText } from '../../../lib/host/kubelet-environment.ts';
import { payloadFile } from '../../../lib/payload/payload.ts';
import type { IgnitionConfig } from '../../../lib/render/ignition/config.ts';
import {
  configOf,
  directory,
  file,
  link,
  unit,
  user,
  withDropins,
} from '../../../lib/render/ignition/entries.ts';
import { machineConfig } from '../../../lib/render/machine-config/machine-config.ts';
import { loadIdentity } from '../../../lib/render/store.ts';
import { gatherLinks } from '../../../units/gather.ts';
import { nodeUnits } from '../../../units/installed.ts';
import { messageCatalog } from '../../../units/message-catalog.ts';
import { reportLinks } from '../../../units/report.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { payloadFolder } from '../../steps/payload-folder.ts';

/**
 * The master Ignition of the Kubernetes payload: what every node needs, however it was
 * bootstrapped. User access, site configuration, the kubelet with its addresses, and the units
 * that verify the payload and renew certificates.
 */
export async function nodeIgnition(
  context: HostContext,
  pullSecret: string | undefined,
): Promise<IgnitionConfig> {
  const { cluster, paths } = context;
  const { nodeIps } = await loadIdentity(paths);
  const site = machineConfig(cluster, 'installed');
  const executable = '/var/lib/sno-agents/bin/sno-agents';
  return configOf({
    // With the renderer's modes: Ignition would create parents with 0755.
    directories: [directory('/etc/sno-agents', 0o700), directory('/var/lib/kubelet', 0o700)],
    users:
      cluster.sshKeys.length === 0
        ? []
        : [user('core', { sshAuthorizedKeys: [...cluster.sshKeys], groups: ['sudo'] })],
    files: [
      file('/etc/sno-agents/kubelet.env', 0o644, kubeletEnvironmentText({ nodeIps })),
      file(
        '/etc/sno-agents/executable.sha256',
        0o644,
        `${cluster.executableSha256}  ${executable}\n`,
      ),
      file(messageCatalog.path, 0o644, messageCatalog.contents),
      file(addressEvents.path, addressEvents.mode, addressEvents.contents),
      file('/etc/sno-agents/payload.sha256', 0o644, await payloadDigest(payloadFolder(context))),
      ...(pullSecret === undefined
        ? []
        : [file('/var/lib/kubelet/config.json', 0o600, pullSecret)]),
      ...site.files.map(({ path, mode, contents }) => file(path, mode, contents)),
    ],
    links: [
      ...agentLinks(agentsOf('node')),
      ...commandLinks(['sno-agents', ...hostCommandNames]),
      ...gatherLinks,
      ...reportLinks,
      issueLink,
    ].map(({ path, target }) => link(path, target)),
    units: withDropins(
      nodeUnits.map(({ name, contents, enabled }) => unit(name, { contents, enabled })),
      site.dropins,
    ),
  });
}

/** In sha256sum's format. payload.yaml lists the digest of every other payload file. */
async function payloadDigest(folder: string): Promise<string> {
  const digest = sha256(await readFile(`${folder}/${payloadFile}`));
  return `${digest}  /var/lib/sno-agents/payload/${payloadFile}\n`;
}
