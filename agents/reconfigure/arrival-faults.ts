import { identityToRecipient } from 'age-encryption';
import { describeError } from '../../lib/base/errors/failure.ts';
import { requireIdle } from '../../lib/change/exclusion.ts';
import { usedVolumes } from '../../lib/change/site/request.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { isInstalled } from '../../lib/host/search-path.ts';
import { allowedSigners } from '../../lib/pki/signature/ssh-signature.ts';
import { ageIdentityPath, type FactoryPolicy } from '../../lib/relocation/relocatable/policy.ts';
import { VOLUME_SIGNATURE } from '../../lib/relocation/site-volume/signature.ts';
import type { KnownNode } from './known-node.ts';
import { bridgeFaults } from './openshift/bridge-faults.ts';

/** What finds and reads a medium, and gives the host its network. */
const PROGRAMS = ['udevadm', 'lsblk', 'systemd-run', 'nmcli'] as const;

/**
 * Why this host would refuse every site configuration, whatever is on the volume, one sentence each. The factory judges a
 * node by it before it is shipped: at the site it may be too late, and there may be nobody who could repair it.
 */
export async function arrivalFaults(
  paths: HostPaths,
  policy: FactoryPolicy,
  { cluster }: Pick<KnownNode, 'cluster'>,
): Promise<string[]> {
  const programs = policy.unsignedAllowed ? PROGRAMS : ([...PROGRAMS, 'ssh-keygen'] as const);
  const missing: string[] = [];
  for (const name of programs) if (!(await isInstalled(name))) missing.push(name);
  const faults = [
    sealedKeysFault(cluster),
    signersFault(policy),
    ...missing.map((name) => `the host has no ${name}`),
    await ageIdentityFault(paths, policy),
    await thrownBy(() => requireIdle(paths)),
    await thrownBy(() => usedVolumes(paths)),
    ...(cluster.controlPlane === 'openshift' ? await bridgeFaults(paths) : []),
  ];
  return faults.filter((each) => each !== undefined);
}

/** What the host does not take of a site, if the site wants it. */
export const arrivalNotes = async (): Promise<string[]> =>
  (await isInstalled('nmstatectl'))
    ? []
    : ['the host has no nmstatectl: it takes only sites with DHCP, without a network of their own'];

/** A way back keeps copies of keys, which must lie on the disk for that. */
export const sealedKeysFault = ({
  sealSecrets,
}: Pick<Cluster, 'sealSecrets'>): string | undefined =>
  sealSecrets === undefined
    ? undefined
    : `its keys are sealed (sealSecrets: ${sealSecrets}), and a way back keeps copies of them: only a host whose keys lie on the disk can be given another site`;

/** Whether anybody can make a site configuration that the policy takes. */
export const signersFault = ({
  allowedSigners: keys,
  unsignedAllowed,
}: Pick<FactoryPolicy, 'allowedSigners' | 'unsignedAllowed'>): string | undefined =>
  unsignedAllowed || allowedSigners(keys, VOLUME_SIGNATURE) !== ''
    ? undefined
    : 'nobody may sign a site configuration, and one without signature is not taken: name keys with "reconfigure prepare --signer", or --allow-unsigned';

async function ageIdentityFault(
  paths: HostPaths,
  { recipient }: FactoryPolicy,
): Promise<string | undefined> {
  const identity = await readTextIfPresent(ageIdentityPath(paths));
  const own =
    identity === undefined
      ? undefined
      : await identityToRecipient(identity.trim()).catch(() => undefined);
  return own === recipient
    ? undefined
    : `the identity of age in ${paths.onHost(ageIdentityPath(paths))} is not that of its policy: run "reconfigure prepare" again`;
}

async function thrownBy(body: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await body();
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}
