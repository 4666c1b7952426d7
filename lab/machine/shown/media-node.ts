import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureSentence } from '../../../lib/base/errors/failure-data.ts';
import { workload } from '../../checks/workload.ts';
import { eventually } from '../../eventually.ts';
import { SITE, startNetwork } from '../../host/network.ts';
import type { Report } from '../../installation.ts';
import { createVolume, type MediumKind } from '../../relocate/volume.ts';
import { SITE_DOMAIN, siteHost } from '../../relocation.ts';
import { readSiteResult, SiteArrival, type SiteResult } from '../../site-arrival.ts';
import type { Devices } from '../devices.ts';
import { asMachine } from '../machine-host.ts';

const PASS_MS = 10 * 60_000;
const NOTICED_MS = 2 * 60_000;
const UNIT = 'reconfigure.service';
const { bridge: GATEWAY } = SITE.segments.IPv4;

/** At a site of this name. */
export const hostNameAt = (site: string): string => `${site}.site.test`;

/** A sealed node whose firmware and kernel see the media: a drive that is polled, sticks that come and go. */
export class MediaNode extends SiteArrival {
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
  async volumeFor(name: string, kind: MediumKind, network: object = {}): Promise<string> {
    this.#volumes += 1;
    const folder = join(this.context.folder, `volume-${this.#volumes}`);
    await mkdir(folder);
    const config = {
      api_version: 1,
      cluster_name: name,
      base_domain: 'site.test',
      hostname: hostNameAt(name),
      siteChecks: [{ ping: GATEWAY }],
      ...network,
    };
    return createVolume(folder, kind, { config, key: this.signingKey }, this.context.signal);
  }

  /** The host notices by itself what `act` does, and gets the name of the site. */
  async becomes(name: string, act: () => Promise<void>): Promise<void> {
    const before = await this.lastResult();
    await act();
    await this.becameUnlike(before, name);
  }

  /** What the agent has said of the last site. */
  lastResult(): Promise<SiteResult | undefined> {
    return readSiteResult(this.booted);
  }

  /** Until it says something else. */
  resultUnlike(before: SiteResult | undefined): Promise<SiteResult> {
    return eventually(
      async () => {
        const found = await this.lastResult();
        if (found !== undefined && !isDeepStrictEqual(found, before)) return found;
        throw new Failure('retry', 'the site has not ended yet');
      },
      PASS_MS,
      this.context.signal,
    );
  }

  /** The same, which has to be that the site of this name is configured. */
  async becameUnlike(before: SiteResult | undefined, name: string): Promise<void> {
    const result = await this.resultUnlike(before);
    if (result.outcome !== 'configured') {
      throw new Failure('fatal', 'the node has not the configuration of its site', {
        found: result.failure === undefined ? result.outcome : failureSentence(result.failure),
      });
    }
    await this.expectName(hostNameAt(name));
  }

  /** What ip(8) says on the host, in JSON. */
  ip(...argv: string[]): Promise<string> {
    return this.command('ip', '-json', ...argv);
  }

  async hostName(): Promise<string> {
    return await this.command('hostname');
  }

  async expectName(expected: string): Promise<void> {
    const found = await this.hostName();
    if (found === expected) return;
    throw new Failure('fatal', 'the host has another name', { expected, found });
  }

  /** Of the agent's last start. */
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
      const state = await this.command('systemctl', ...show);
      if (state === 'inactive' || state === 'failed') return;
      throw new Failure('deadline', 'the agent still runs', { found: state });
    };
    await eventually(look, PASS_MS, this.context.signal);
  }
}
