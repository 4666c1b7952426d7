import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { AllInOne } from '../all-in-one.ts';
import { eventually } from '../eventually.ts';
import { quickly } from '../host/command.ts';
import { type HostIdentity, portOf, SITE } from '../host/network.ts';
import type { Installation } from '../installation.ts';
import { Drive } from '../relocate/drive.ts';
import { copyDisk } from '../relocate/factory.ts';
import type { LabContext } from '../scenario.ts';
import { NETWORK_AS_IT_IS } from './hub.ts';

const ENDS_MS = 8 * 60_000;

/** As the site's DHCP knows it. */
export const UNPLUGGED: HostIdentity = {
  name: 'edge2',
  mac: '52:54:00:00:00:1b',
  addresses: ['10.77.0.11'],
  bridge: SITE.bridge,
};

/** A sealed node at its site whose cable is out. It is a copy of another one, which saves an installation. */
export class UnpluggedNode extends AllInOne {
  readonly #folder: string;

  constructor(context: LabContext) {
    const folder = join(context.folder, UNPLUGGED.name);
    super({ ...context, folder });
    this.#folder = folder;
  }

  /** Of a node that is switched off. */
  async copyOf({ site, created }: Installation): Promise<void> {
    await mkdir(this.#folder, { mode: 0o700 });
    const file = join(this.#folder, 'disk.raw');
    await copyDisk(site.disk.file, file, this.context.signal);
    const disk = { ...site.disk, file };
    const own = { folder: this.#folder, network: NETWORK_AS_IT_IS, host: UNPLUGGED, disk };
    this.prepared(own, created);
  }

  /** Until it has restarted by itself, to go back to what it was. @param volume the ISO that a person inserts */
  async arrive(volume: string): Promise<void> {
    const { signal, teardown } = this.context;
    await this.bootInstalled('unplugged', () =>
      quickly('ip', ['link', 'set', portOf(UNPLUGGED), 'down'], signal).then(() => undefined),
    );
    await new Drive(teardown).insert(this.booted, volume, signal);
    const off = async () => {
      if (!(await this.booted.hasEnded())) throw new Failure('retry', 'the node does not go back');
    };
    await eventually(off, ENDS_MS, signal);
    await this.booted.stop();
  }

  /** Somebody has found the cable. */
  async plugIn(): Promise<void> {
    await this.bootInstalled('plugged-in');
  }
}
