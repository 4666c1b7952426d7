import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import {
  readTextIfPresent,
  removeFile,
  removeOverwritten,
  writeFileAtomic,
} from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { sealedPath } from '../../../lib/host/paths.ts';
import { startUnit } from '../../../lib/host/systemd.ts';
import {
  ageIdentityPath,
  type FactoryPolicy,
  factoryPolicyPath,
  internalAddresses,
  readFactoryPolicy,
  SHIPPING_DAYS,
  writeFactoryPolicy,
} from '../../../lib/relocation/relocatable/policy.ts';
import type { HostContext } from '../host-context.ts';
import { installedAddresses } from './internal-address.ts';

/** What the factory decides about a node; the rest of its policy is the node's own. */
export type FactoryChoices = Pick<
  FactoryPolicy,
  'allowedSigners' | 'unsignedAllowed' | 'siteUrl' | 'shippingDays' | 'unknownReleaseAccepted'
>;

/** A host as the factory prepares it. */
export interface FactoryContext extends HostContext {
  readonly choices: FactoryChoices;
}

/** Those of a node whose factory says nothing else: whoever may log in may sign. */
export const usualChoices = ({
  sshKeys,
}: Pick<HostContext['cluster'], 'sshKeys'>): FactoryChoices => ({
  allowedSigners: sshKeys,
  unsignedAllowed: false,
  shippingDays: SHIPPING_DAYS,
});

/**
 * Writes whose site configuration the node takes, and makes the key by which one can be encrypted for this node
 * alone. A key that exists stays: a volume may have been made for it.
 */
export const factoryPolicy: StepBody<FactoryContext> = {
  name: 'factory-policy',
  leaves: 'the policy of the factory, and a key of age that only this node has',
  touches: ['disk'],
  retries: true,
  input: ({ choices }) => choices,
  async holds(context) {
    const recipient = await ownRecipient(context.paths);
    if (recipient === undefined) return false;
    const present = await readFactoryPolicy(context.paths);
    return isDeepStrictEqual(present, await policyOf(context, recipient));
  },
  async run(context) {
    const { paths } = context;
    const recipient = (await ownRecipient(paths)) ?? (await newRecipient(paths));
    const policy = await policyOf(context, recipient);
    await writeFactoryPolicy(paths, policy);
    return done(`internal address ${internalAddresses(policy).join(', ')}, recipient ${recipient}`);
  },
};

/** A node that takes no site configuration. */
export const withoutFactoryPolicy: StepBody<HostContext> = {
  name: 'factory-policy',
  leaves: 'no policy of the factory, no seal, and no key of age',
  touches: ['disk', 'systemd'],
  retries: true,
  input: () => 'removed',
  holds: async ({ paths }) =>
    (await readTextIfPresent(factoryPolicyPath(paths))) === undefined &&
    (await readTextIfPresent(sealedPath(paths))) === undefined &&
    (await readTextIfPresent(ageIdentityPath(paths))) === undefined,
  async run({ paths }, { signal }) {
    const wasSealed = await removeFile(sealedPath(paths));
    if (wasSealed) await startUnit('kubelet.service', signal);
    await removeFile(factoryPolicyPath(paths));
    await removeOverwritten(ageIdentityPath(paths));
    return done();
  },
};

const policyOf = async (
  { paths, hostname, choices }: FactoryContext,
  recipient: string,
): Promise<FactoryPolicy> => {
  const [internalAddress, second] = await installedAddresses(paths);
  return {
    schemaVersion: 1,
    internalAddress,
    ...(second === undefined ? {} : { secondInternalAddress: second }),
    nodeName: hostname(),
    ...choices,
    recipient,
  };
};

async function ownRecipient(paths: HostPaths): Promise<string | undefined> {
  const identity = await readTextIfPresent(ageIdentityPath(paths));
  return identity === undefined ? undefined : identityToRecipient(identity.trim());
}

async function newRecipient(paths: HostPaths): Promise<string> {
  const identity = await generateX25519Identity();
  await mkdir(dirname(ageIdentityPath(paths)), { recursive: true, mode: 0o700 });
  await writeFileAtomic(ageIdentityPath(paths), `${identity}\n`, 0o600);
  return identityToRecipient(identity);
}
