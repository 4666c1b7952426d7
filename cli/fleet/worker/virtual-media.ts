import type { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { FIELD_MANAGERS, FLEET } from '../../../lib/engine/report/site-status.ts';
import type { Hub } from './hub.ts';
import { type HubSite, hubKinds, metadataOf } from './kinds.ts';

const manager = FIELD_MANAGERS.worker;
/** Metal3 switches the host off and on, and removes it then. */
const REBOOT = 'reboot.metal3.io';
/** For which run of which Site that was asked: a host that has begun is not switched off again. */
const REBOOTED_FOR = `${FLEET.group}/rebooted-for`;

/** Metal3 leaves the host alone then: taking its image away would have it switched off and cleaned. */
const DETACHED = 'baremetalhost.metal3.io/detached';
/** For which run of which Site it boots a live ISO. */
const INSTALLED_FOR = `${FLEET.group}/installed-for`;

/** @throws Failure (usage) if the Site's BareMetalHost does not exist or has another purpose */
export async function requireHost(hub: Hub, site: HubSite): Promise<string> {
  const { name, host } = await hostOf(hub, site);
  if (host.spec?.image === undefined || host.spec.externallyProvisioned === true) return name;
  throw new Failure('usage', `the BareMetalHost ${name} is provisioned by Metal3`, {
    expected: 'a host whose disk is its own',
    found: 'spec.image',
    fix: 'Remove spec.image: Metal3 would erase the disk of the node.',
  });
}

/** @throws Failure (usage) if the Site's BareMetalHost is not there to be installed */
export async function requireBootable(hub: Hub, site: HubSite): Promise<string> {
  const { name, host } = await hostOf(hub, site);
  const { image, externallyProvisioned } = host.spec ?? {};
  if (externallyProvisioned === true) {
    throw new Failure('usage', `the BareMetalHost ${name} has a node already`, {
      expected: 'a host whose disk may be erased',
      found: 'spec.externallyProvisioned true',
      fix: 'Set it to false to install the host anew.',
    });
  }
  if (image === undefined || isInstalledFor(host, site)) return name;
  throw new Failure('usage', `the BareMetalHost ${name} has another image`, {
    expected: 'no spec.image, or that of this Site',
    fix: 'Remove spec.image, and wait until Metal3 has the host available.',
  });
}

type Host = z.infer<(typeof hubKinds.bareMetalHosts)['schema']>;

const runOfSite = ({ metadata, spec }: HubSite) => `${metadata.uid ?? ''}/${spec.serial}`;
const isInstalledFor = ({ metadata }: Host, site: HubSite) =>
  metadata.annotations?.[INSTALLED_FOR]?.startsWith(`${site.metadata.uid ?? ''}/`) === true;

/** @throws Failure (usage) if there is none */
async function hostOf(hub: Hub, site: HubSite): Promise<{ name: string; host: Host }> {
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
  return { name, host };
}

/** Has the host boot a live ISO. Metal3 does that again for another URL, so for another serial. */
export async function bootFrom(hub: Hub, site: HubSite, name: string, url: string): Promise<void> {
  const host = await hub.find(hubKinds.bareMetalHosts, name);
  const run = runOfSite(site);
  const isAsked = host?.metadata.annotations?.[INSTALLED_FOR] === run;
  if (!isAsked) requireIdle(site);
  const body = {
    metadata: { annotations: { [INSTALLED_FOR]: run, [DETACHED]: null } },
    spec: { image: { url, format: 'live-iso' }, online: true },
  };
  if (!isAsked) await hub.patch(hubKinds.bareMetalHosts, name, body, { kind: 'merge', manager });
}

/** The installed host is its own: nothing has it boot the live ISO again. */
export async function leaveAlone(hub: Hub, site: HubSite): Promise<void> {
  const name = site.spec.delivery?.bareMetalHost?.name;
  if (name === undefined) return;
  const host = await hub.find(hubKinds.bareMetalHosts, name);
  if (host?.metadata.annotations?.[INSTALLED_FOR] !== runOfSite(site)) return;
  const body = { metadata: { annotations: { [DETACHED]: manager } } };
  await hub.patch(hubKinds.bareMetalHosts, name, body, { kind: 'merge', manager });
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
  const run = runOfSite(site);
  const host = await hub.find(hubKinds.bareMetalHosts, name);
  const isAsked = host?.metadata.annotations?.[REBOOTED_FOR] === run;
  // What works now works on this volume.
  if (!isAsked) requireIdle(site);
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
