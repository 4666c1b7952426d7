import { Failure } from '../../../lib/base/errors/failure.ts';
import { requireIdle } from '../../../lib/change/exclusion.ts';
import { readMembers } from '../../../lib/cluster/workers/members.ts';
import { ACCEPT_UNKNOWN_RELEASE } from '../../../lib/config/openshift/judge-release.ts';
import { exists, readTextIfPresent } from '../../../lib/host/files.ts';
import { readGivenFile } from '../../../lib/host/given-file.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import { publicKeyOf } from '../../../lib/pki/signature/ssh-keys.ts';
import { readFactoryPolicy, SHIPPING_DAYS } from '../../../lib/relocation/relocatable/policy.ts';
import { readRenderInput } from '../../../lib/render/render-input.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { type FactoryChoices, usualChoices } from '../../steps/relocatable/factory-policy.ts';
import { installedAddresses } from '../../steps/relocatable/internal-address.ts';
import { sealedKeysFault, signersFault } from '../arrival-faults.ts';

/** Options of `reconfigure prepare`. */
export interface AskedPreparation {
  /** Files with public keys. */
  readonly signer?: readonly string[];
  readonly allowUnsigned?: boolean;
  readonly siteUrl?: string;
  readonly shippingDays?: string;
  readonly acceptUnknownRelease?: boolean;
  /** Whether the machine-config operator may restart the host once. */
  readonly allowRestart?: boolean;
}

/**
 * Whether this host of the Kubernetes payload can be made relocatable; nothing is changed.
 * @throws Failure (usage) with the reason why not
 */
export async function requirePreparable(
  host: HostContext,
  { acceptUnknownRelease, allowRestart }: AskedPreparation = {},
): Promise<void> {
  const { paths } = host;
  if (acceptUnknownRelease !== undefined || allowRestart !== undefined) {
    const what = `${ACCEPT_UNKNOWN_RELEASE} and --allow-restart are for OpenShift`;
    throw refused(what, { found: 'a host of Kubernetes' });
  }
  if (!(await exists(paths.record))) {
    throw refused('the installation is not complete', { fix: 'Wait for its end.' });
  }
  const kubelet = await readTextIfPresent(paths.at('/etc/systemd/system/kubelet.service'));
  if (kubelet?.includes('KUBELET_NODE_NAME') !== true) {
    throw refused("the kubelet's unit is one of an earlier release", {
      fix: 'Update the host first: see "sno-update run".',
    });
  }
  const sealed = sealedKeysFault(host.cluster);
  if (sealed !== undefined) {
    throw refused('this node cannot be relocated', {
      found: sealed,
      fix: 'Install it again, without sealSecrets.',
    });
  }
  if ((await readRenderInput(paths)) === undefined) {
    throw refused('this node cannot be relocated', {
      expected: '/etc/sno-agents/render-input.json, which hosts have since this release',
      found: 'a host of an earlier release',
    });
  }
  await requireIdle(paths);
  const workers = await readMembers(paths);
  if (workers.length > 0) {
    throw refused('the cluster has workers, which know the node by its address', {
      found: workers.map(({ name }) => name).join(', '),
      fix: 'Only a node without workers can be relocated: remove them.',
    });
  }
  await installedAddresses(paths);
  if (!(await isInstalled('nmcli'))) {
    throw refused('the host has no NetworkManager', { expected: 'nmcli in PATH' });
  }
}

/**
 * The decisions of the factory: from the options, else from the last run, else the usual ones.
 * @throws Failure (usage) with every option that cannot be used
 */
export async function choicesFor(
  host: HostContext,
  asked: AskedPreparation,
): Promise<FactoryChoices> {
  const before = await readFactoryPolicy(host.paths);
  const { allowedSigners, unsignedAllowed, shippingDays, siteUrl } =
    before ?? usualChoices(host.cluster);
  const isUnknownAccepted = asked.acceptUnknownRelease ?? before?.unknownReleaseAccepted;
  const keys = await signersIn(asked.signer ?? []);
  const url = asked.siteUrl === undefined ? siteUrl : urlOf(asked.siteUrl);
  const trusted = {
    allowedSigners: asked.signer === undefined ? allowedSigners : keys,
    unsignedAllowed: asked.allowUnsigned ?? unsignedAllowed,
  };
  const nobody = signersFault(trusted);
  if (nobody !== undefined)
    throw refused('this node would accept no site configuration', { found: nobody });
  return {
    ...trusted,
    shippingDays: asked.shippingDays === undefined ? shippingDays : daysOf(asked.shippingDays),
    ...(url === undefined ? {} : { siteUrl: url }),
    ...(isUnknownAccepted === true ? { unknownReleaseAccepted: true as const } : {}),
  };
}

async function signersIn(files: readonly string[]): Promise<string[]> {
  const keys: string[] = [];
  for (const path of files) {
    const text = await readGivenFile(path, '--signer');
    const found = text.split(/\r?\n/).flatMap((line) => publicKeyOf(line) ?? []);
    if (found.length === 0) {
      throw refused(`--signer ${path} has no public key`, {
        expected: 'lines such as ssh-ed25519 AAAA…',
      });
    }
    keys.push(...found);
  }
  return keys;
}

function urlOf(text: string): string {
  if (text === 'dhcp') return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return text;
  throw refused('--site-url cannot be used', {
    expected: 'an http or https URL, or dhcp',
    found: text,
  });
}

function daysOf(text: string): number {
  const days = Number(text);
  if (/^\d{1,4}$/.test(text) && days >= 1 && days <= 3650) return days;
  throw refused('--shipping-days cannot be used', {
    expected: `a whole number from 1 to 3650; ${SHIPPING_DAYS} without the option`,
    found: text,
  });
}

const refused = (what: string, details: { expected?: string; found?: string; fix?: string }) =>
  new Failure('usage', `${what}; nothing was changed`, details);
