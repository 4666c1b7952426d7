import { Failure } from '../../../lib/base/errors/failure.ts';
import { FIELD_MANAGERS, FLEET } from '../../../lib/engine/report/site-status.ts';
import type { Hub } from './hub.ts';
import { type HubSite, hubKinds, metadataOf } from './kinds.ts';

const manager = FIELD_MANAGERS.worker;
/** Metal3 switches the host off and on, and removes it then. */
const REBOOT = 'reboot.metal3.io';
/** For which run of which Site that was asked: a host that has begun is not switched off again. */
const REBOOTED_FOR = `${FLEET.group}/rebooted-for`;

/** @throws Failure (usage) if the Site's BareMetalHost does not exist or has another purpose */
export async function requireHost(hub: Hub, site: HubSite): Promise<string> {
  const name = site.spec.delivery?.bareMetalHost?.name;
  if (name === undefined) {
    throw new Failure('usage', 'spec.delivery.bareMetalHost is missing', {
      expected: 'the name of the host whose drive gets the volume',
    });
  }
  const host = await hub.find(hubKinds.bareMetalHosts, name);
  if (host === undefined) {
    throw new Failure('usage', `the BareMetalHost ${name} does not exist`, {
      expected: `one in the namespace ${hub.namespace}`,
    });
  }
  if (host.spec?.image === undefined || host.spec.externallyProvisioned === true) return name;
  throw new Failure('usage', `the BareMetalHost ${name} is provisioned by Metal3`, {
    expected: 'a host whose disk is its own',
    found: 'spec.image',
    fix: 'Remove spec.image: Metal3 would erase the disk of the node.',
  });
}

/** Puts the ISO into the drive of the host, which sees it when it is switched on. */
export async function attach(hub: Hub, site: HubSite, name: string, url: string): Promise<void> {
  const image = {
    apiVersion: hubKinds.dataImages.apiVersion,
    kind: 'DataImage',
    metadata: metadataOf(site, name, { isOwned: true }),
    spec: { url },
  };
  await hub.patch(hubKinds.dataImages, name, image, { kind: 'apply', manager });
  const run = `${site.metadata.uid ?? ''}/${site.spec.serial}`;
  const host = await hub.find(hubKinds.bareMetalHosts, name);
  requireIdle(site);
  const isAsked = host?.metadata.annotations?.[REBOOTED_FOR] === run;
  const body = {
    ...(isAsked ? {} : { metadata: { annotations: { [REBOOT]: '', [REBOOTED_FOR]: run } } }),
    spec: { externallyProvisioned: true, online: true },
  };
  await hub.patch(hubKinds.bareMetalHosts, name, body, { kind: 'merge', manager });
}

/** A node that is switched off in the middle of a change goes on with that, and does not look at its drive. */
function requireIdle({ metadata, status }: HubSite): void {
  const isRunning = status?.report?.changes.some(({ state }) => state === 'running') === true;
  if (!isRunning) return;
  throw new Failure('retry', `the node of the Site ${metadata.name} is at work`, {
    expected: 'an end of what it has begun, before it is switched off',
    fix: 'Run the same command again later.',
  });
}

/** Takes it out again, at the next start of the host; that of another Site stays. */
export async function detach(hub: Hub, { metadata, spec }: HubSite): Promise<void> {
  const name = spec.delivery?.bareMetalHost?.name;
  if (spec.delivery?.by !== 'virtualMedia' || name === undefined) return;
  const image = await hub.find(hubKinds.dataImages, name);
  const owners = image?.metadata.ownerReferences ?? [];
  if (owners.some(({ uid }) => uid === metadata.uid)) await hub.remove(hubKinds.dataImages, name);
}
