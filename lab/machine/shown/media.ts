import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../../lib/errors/failure.ts';
import { failureSentence } from '../../../lib/errors/failure-data.ts';
import { workload } from '../../checks/workload.ts';
import { eventually } from '../../eventually.ts';
import { meetAll } from '../../faults/troubles.ts';
import { SITE, startNetwork } from '../../host/network.ts';
import { type Report, scenarioOf } from '../../installation.ts';
import { createVolume, type MediumKind } from '../../relocate/volume.ts';
import { relocatableHost, SITE_DOMAIN, siteHost } from '../../relocation.ts';
import type { Scenario } from '../../scenario.ts';
import { readSiteResult, SiteArrival } from '../../site-arrival.ts';
import type { Devices } from '../devices.ts';
import { asMachine } from '../machine-host.ts';
import { shown } from './row.ts';

const PASS_MS = 10 * 60_000;
const NOTICED_MS = 2 * 60_000;
const STICK = 'site-stick';
const UNIT = 'reconfigure.service';
const { bridge: GATEWAY } = SITE.segments.IPv4;

/** A sealed node whose firmware and kernel see the media: a drive that is polled, sticks that come and go. */
class MediaNode extends SiteArrival {
  #volumes = 0;

  get devices(): Devices {
    return asMachine(this.booted).devices;
  }

  async leaveFactory(report: Report): Promise<void> {
    await this.run.runChecks([workload], report, {});
    await this.fixSigner();
    await this.validate();
    const { folder, signal, teardown } = this.context;
    await this.booted.stop();
    await startNetwork(
      { domain: SITE_DOMAIN, host: siteHost, place: SITE },
      folder,
      teardown,
      signal,
    );
    this.run.plugInto(siteHost);
  }

  /** The image of a medium for a site of this name. */
  async volumeFor(name: string, kind: MediumKind): Promise<string> {
    this.#volumes += 1;
    const folder = join(this.context.folder, `volume-${this.#volumes}`);
    await mkdir(folder);
    const config = {
      api_version: 1,
      cluster_name: name,
      base_domain: 'site.test',
      hostname: `${name}.site.test`,
      siteChecks: [{ ping: GATEWAY }],
    };
    return createVolume(folder, kind, { config, key: this.signingKey }, this.context.signal);
  }

  /** The host notices by itself what `act` does, and gets the name of the site. */
  async becomes(name: string, act: () => Promise<void>): Promise<void> {
    const before = await readSiteResult(this.booted);
    await act();
    const result = await eventually(
      async () => {
        const found = await readSiteResult(this.booted);
        if (found !== undefined && !isDeepStrictEqual(found, before)) return found;
        throw new Failure('retry', 'the site is not configured yet');
      },
      PASS_MS,
      this.context.signal,
    );
    if (result.outcome !== 'configured') {
      throw new Failure('fatal', 'the node has not the configuration of its site', {
        found: result.failure === undefined ? result.outcome : failureSentence(result.failure),
      });
    }
    await this.expectName(name);
  }

  async expectName(name: string): Promise<void> {
    const found = (await this.command('hostname')).trim();
    if (found === `${name}.site.test`) return;
    throw new Failure('fatal', 'the host has another name', { expected: name, found });
  }

  /** Starts of the agent since the boot. */
  #invocation(): Promise<string> {
    return this.command('systemctl', 'show', UNIT, '--property=InvocationID', '--value');
  }

  /** Until the agent has begun with what `act` does. */
  async noticed(act: () => Promise<void>): Promise<void> {
    const before = await this.#invocation();
    await act();
    const look = async () => {
      if ((await this.#invocation()) !== before) return;
      throw new Failure('fatal', 'the host does not notice the medium');
    };
    await eventually(look, NOTICED_MS, this.context.signal);
  }

  /** Until the agent runs no more. */
  async done(): Promise<void> {
    const look = async () => {
      const show = ['show', UNIT, '--property=ActiveState', '--value'];
      const state = (await this.command('systemctl', ...show)).trim();
      if (state === 'inactive' || state === 'failed') return;
      throw new Failure('deadline', 'the agent still runs', { found: state });
    };
    await eventually(look, PASS_MS, this.context.signal);
  }
}

/**
 * Pulled as soon as it is noticed. What was read of it by then decides: the host keeps the site that it has, or gets all of
 * the new one; never a part.
 */
async function pulled(node: MediaNode, before: string): Promise<void> {
  const image = await node.volumeFor('pulled', 'FAT in a partition');
  const last = await readSiteResult(node.run.booted);
  await node.noticed(() => node.devices.plugStick(STICK, image));
  await node.devices.pullStick(STICK);
  await node.done();
  const result = await readSiteResult(node.run.booted);
  const isNew = result?.outcome === 'configured' && !isDeepStrictEqual(result, last);
  await node.expectName(isNew ? 'pulled' : before);
}

/** Site volumes on the media of a machine: its drive, a stick, with ISO, FAT and ext4. */
export const machineMedia: Scenario = (context) => {
  const run = relocatableHost(context);
  const node = new MediaNode(run);
  const cd = async (name: string) => {
    const image = await node.volumeFor(name, 'ISO');
    await node.becomes(name, () => node.devices.insertCd(image));
  };
  const stick = async (name: string, kind: MediumKind) => {
    const image = await node.volumeFor(name, kind);
    await node.becomes(name, () => node.devices.plugStick(STICK, image));
    await node.devices.pullStick(STICK);
  };
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Validate, seal, ship', run: (report) => node.leaveFactory(report) },
    { title: 'Boot at the site, sealed', run: () => node.checkSealed() },
    ...meetAll(
      [
        shown('virtual CD inserted', () => cd('inserted'), 'reconfigure'),
        shown('virtual CD swapped', () => cd('swapped'), 'reconfigure'),
        shown('stick pulled at once', () => pulled(node, 'swapped'), 'reconfigure'),
        shown(
          'stick with FAT in a partition',
          () => stick('windows', 'FAT in a partition'),
          'reconfigure',
        ),
        shown('stick with ext4', () => stick('linux', 'ext4'), 'reconfigure'),
      ],
      context,
    ),
  ]);
};
