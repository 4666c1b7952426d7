import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../lib/base/errors/failure.ts';
import { siteChange } from '../../lib/change/site/request.ts';
import { exists, readTextIfPresent } from '../../lib/host/files.ts';
import { hostPaths, sealedPath } from '../../lib/host/paths.ts';
import { AllInOne } from '../all-in-one.ts';
import { kubectl } from '../checks/kubectl.ts';
import { eventually } from '../eventually.ts';
import { bootAgain } from '../faults/cells/faults.ts';
import { unitStates } from '../faults/cells/plan.ts';
import { untilEnded } from '../faults/cells/run-cell.ts';
import {
  FACTORY,
  type HostIdentity,
  type Place,
  SECOND_SITE,
  SITE,
  startNetwork,
} from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import { SITE_DOMAIN, siteHost } from '../relocation.ts';
import { DOMAIN, hostOf } from '../site.ts';
import { readSiteResult } from '../site-arrival.ts';
import { Drive } from './drive.ts';
import { FACTORY_OBJECT, takeFactoryNode } from './factory.ts';
import { createVolume, type MediumKind, type VolumeInput } from './volume.ts';

const AGENT = 'reconfigure';
const UNIT = 'reconfigure.service';
const NOTICED_MS = 60_000;
const END_MS = 12 * 60_000;
const READY_MS = 4 * 60_000;
const LOOK_MS = 30_000;

/** A network, and by what the node is known in it. */
export interface Whereabouts {
  readonly place: Place;
  readonly host: HostIdentity;
  readonly domain: string;
}

const at = (place: Place, address: string): HostIdentity => ({
  ...siteHost,
  addresses: [address],
  bridge: place.bridge,
});

export const PLACES = {
  factory: { place: FACTORY, host: hostOf(['IPv4']), domain: DOMAIN },
  site: { place: SITE, host: siteHost, domain: SITE_DOMAIN },
  second: { place: SECOND_SITE, host: at(SECOND_SITE, '10.88.0.10'), domain: SITE_DOMAIN },
} as const satisfies Readonly<Record<string, Whereabouts>>;

/** How a site volume has ended, as the technician and support see it. */
export interface Ended {
  /** `configured`, `reverted`, `refused`; `ignored`: nothing was to be done; `not accepted`: it was judged and nothing was changed. */
  readonly outcome: string;
  /** Of the failure; empty without one. */
  readonly code: string;
  readonly exitCode: number;
  /** What the login prompt says, in one line. */
  readonly prompt: string;
  /** What the console has shown since the volume was inserted. */
  readonly console: string;
}

/** A sealed node of the factory, taken to sites. */
export class ShippedNode extends AllInOne {
  #key = '';
  #drive: Drive | undefined;
  #volumes = 0;
  readonly #opened = new Set<string>();

  /** The drive that the medium of the last volume is in. */
  get drive(): Drive {
    if (this.#drive === undefined) throw new Error('the node is not there yet');
    return this.#drive;
  }

  /** A copy of the disk, and the network of the site. */
  async unpack(): Promise<void> {
    const { folder, teardown } = this.context;
    const { disk, created, key } = await takeFactoryNode(folder, this.context);
    this.#key = key;
    this.#drive = new Drive(teardown);
    await this.connect(PLACES.site);
    const network = { forgetLeases: never, moveHost: never, setMissingRecords: never };
    this.prepared({ folder, network, host: siteHost, disk }, created);
  }

  /** Plugs it into another network, from its next boot on. */
  async connect({ place, host, domain }: Whereabouts): Promise<void> {
    const { folder, signal, teardown } = this.context;
    this.plugInto(host);
    if (this.#opened.has(place.bridge)) return;
    this.#opened.add(place.bridge);
    await startNetwork({ domain, host, place }, folder, teardown, signal);
  }

  /** As the technician does who takes it along. */
  async moveTo(where: Whereabouts): Promise<void> {
    await this.booted.stop();
    await this.connect(where);
    await bootAgain(this);
  }

  /** A new volume of the administrator; returns the image of its medium. */
  async createVolume(kind: MediumKind, { key = this.#key, ...input }: VolumeInput) {
    const folder = await this.#newFolder();
    const image = await createVolume(folder, kind, { ...input, key }, this.context.signal);
    return { image, folder };
  }

  /** A volume that nobody has signed. */
  async createUnsigned({ config }: Pick<VolumeInput, 'config'>): Promise<string> {
    const folder = await this.#newFolder();
    return createVolume(folder, 'ISO', { config }, this.context.signal);
  }

  async #newFolder(): Promise<string> {
    this.#volumes += 1;
    const folder = join(this.context.folder, `volume-${this.#volumes}`);
    await mkdir(folder);
    return folder;
  }

  /** Inserts a medium; returns as soon as the host has noticed it. */
  async begin(insert: (drive: Drive) => Promise<void>): Promise<void> {
    const before = await this.#invocation();
    await insert(this.drive);
    const noticed = async () => {
      if ((await this.#invocation()) !== before) return;
      throw new Failure('fatal', 'the host does not notice the medium');
    };
    await eventually(noticed, NOTICED_MS, this.context.signal);
  }

  /**
   * Inserts a medium and waits until the host has done with it, also if it restarts meanwhile.
   *
   * @param during is called as soon as the host has noticed it.
   */
  async meet(
    insert: (drive: Drive) => Promise<void>,
    during: () => Promise<void> = async () => undefined,
  ): Promise<Ended> {
    const last = await readSiteResult(this.booted);
    const shown = (await this.#consoleText()).length;
    await this.begin(insert);
    await during();
    await this.untilDone();
    return this.#ended(last, shown);
  }

  /** Until the host has done with a volume, also if it restarts meanwhile. */
  async untilDone(): Promise<void> {
    const { signal } = this.context;
    const done = async () => {
      const hasEnded = await untilEnded(this, AGENT, END_MS);
      // A unit that a shutdown has stopped goes on at the next boot.
      if (hasEnded && !(await exists(siteChange.requestPath(hostPaths(this.booted.rootDir)))))
        return;
      throw new Failure('deadline', 'the host has not done with the volume', {
        expected: `within ${END_MS / 60_000} min`,
      });
    };
    await eventually(done, END_MS, signal);
  }

  /** How the last volume has ended, whenever that was. */
  lastEnded(): Promise<Ended> {
    return this.#ended(undefined, 0);
  }

  /** The usual way: a new volume on this kind of medium, which stays in the drive. */
  async bring(
    kind: MediumKind,
    input: VolumeInput,
    during: () => Promise<void> = async () => undefined,
  ): Promise<Ended> {
    const { image } = await this.createVolume(kind, input);
    const { signal } = this.context;
    return this.meet((drive) => drive.insert(this.booted, image, signal), during);
  }

  async #ended(last: unknown, shown: number): Promise<Ended> {
    const { signal } = this.context;
    const result = await readSiteResult(this.booted);
    const status = ['systemctl', 'show', UNIT, '--property=ExecMainStatus', '--value'];
    const exitCode = Number(await onHost(this.booted, status, signal));
    const issue = join(this.booted.ownView, 'run/sno-agents/console.issue');
    const prompt = ((await readTextIfPresent(issue)) ?? '').replaceAll(/\s+/g, ' ').trim();
    const text = (await this.#consoleText()).slice(shown);
    const shownOnScreen = `${new Date().toISOString()} login prompt: ${prompt}\n${text}\n`;
    await appendFile(join(this.context.out, 'screen.log'), shownOnScreen);
    const isNew = result !== undefined && !isDeepStrictEqual(result, last);
    const outcome = isNew ? result.outcome : exitCode === 0 ? 'ignored' : 'not accepted';
    const code = isNew ? (result.failure?.code ?? '') : '';
    return { outcome, code, exitCode, prompt, console: text };
  }

  /** Of every boot. */
  async #consoleText(): Promise<string> {
    const logs = this.journals.map((path) => path.replace(/-journal\.log$/, '-console.log'));
    const texts = await Promise.all(logs.map((path) => readFile(path, 'utf8').catch(() => '')));
    return texts.join('');
  }

  /** Of the agent's unit: another one after each start. */
  #invocation(): Promise<string> {
    const show = ['systemctl', 'show', UNIT, '--property=InvocationID', '--value'];
    return onHost(this.booted, show, this.context.signal);
  }

  /** With the kubeconfig of the factory, as long as it is good: everything is there. */
  async expectFactoryCluster(): Promise<void> {
    const { signal } = this.context;
    const { kind, metadata } = FACTORY_OBJECT;
    const look = async () => {
      await kubectl(this.cluster, ['get', kind, metadata.name], signal);
      const ready = ['wait', 'node', '--all', '--for=condition=Ready', '--timeout=20s'];
      await kubectl(this.cluster, ready, signal);
    };
    await eventually(look, READY_MS, signal);
  }

  async isSealed(): Promise<boolean> {
    return (await readTextIfPresent(sealedPath(hostPaths(this.booted.rootDir)))) !== undefined;
  }

  /** The factory starts it once more. */
  async unseal(): Promise<void> {
    await onHost(this.booted, ['reconfigure', 'validate', '--unseal'], this.context.signal);
    await this.expectFactoryCluster();
  }

  /** No kubelet, and nothing of the control plane: while the network changes they must not see two of them. */
  async expectStopped(): Promise<void> {
    const { signal } = this.context;
    const stopped = async () => {
      const [state] = await unitStates(this.booted, 'kubelet', signal);
      const asked = ['pidof', 'kubelet', 'kube-apiserver', 'etcd'];
      const { stdout } = await this.booted.exec(asked, { timeoutMs: LOOK_MS }, signal);
      if (state !== 'active' && stdout.trim() === '') return;
      throw new Failure('fatal', 'the control plane runs while the network changes', {
        found: `the kubelet is ${state}; processes ${stdout.trim()}`,
      });
    };
    await stopped();
  }
}

const never = () => Promise.reject(new Error('the network of the site stays as it is'));
