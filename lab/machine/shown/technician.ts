import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { RESULT_FILES } from '../../../lib/relocation/site-volume/result.ts';
import { photographPage, requireBrowser } from '../../browser.ts';
import { eventually } from '../../eventually.ts';
import { bootAgain } from '../../faults/cells/faults.ts';
import { demandedOf, meetAll, type TroublesOf } from '../../faults/troubles.ts';
import { quickly } from '../../host/command.ts';
import { onHost } from '../../host/on-host.ts';
import { scenarioOf } from '../../installation.ts';
import { siteConfig } from '../../relocate/media.ts';
import { ShippedNode } from '../../relocate/shipped-node.ts';
import { inPartition } from '../../relocate/volume.ts';
import type { Scenario } from '../../scenario.ts';
import type { Devices } from '../devices.ts';
import { asMachine } from '../machine-host.ts';
import { needed, shown } from './row.ts';
import { Screen } from './screen.ts';
import { requireEnforced } from './selinux.ts';
import { copied, damaged, formattedAs, tooDeep, withPhotos } from './sticks.ts';

const SITE_NAME = 'shop';
const PASS_MS = 12 * 60_000;
const TOLD_MS = 60_000;
/** So slow that whoever is quick pulls it while it is read. */
const SLOW_BYTES_PER_SECOND = 256 << 10;
/** Until the process is there that reads a medium. */
const IS_READ = 'until pgrep -f "reconfigure read-[m]edium" >/dev/null; do sleep 0.1; done';

/** A sealed node in a shop, and somebody with sticks, a screen and no idea of clusters. */
class Shop {
  readonly node: ShippedNode;
  readonly screen: Screen;
  #sticks = 0;
  #files = '';

  constructor(node: ShippedNode) {
    this.node = node;
    this.screen = new Screen(node);
  }

  get #devices(): Devices {
    return asMachine(this.node.booted).devices;
  }

  get #signal(): AbortSignal {
    return this.node.context.signal;
  }

  /** The volume of the site has been created, and the host waits for it. */
  async open(): Promise<void> {
    const { folder } = await this.node.createVolume('FAT', { config: siteConfig(SITE_NAME) });
    this.#files = join(folder, 'files');
    await this.screen.showPrompts();
    await this.screen.says(/waits for its site volume\. Insert the stick/, 'sealed');
  }

  /** The image of the next stick. */
  #image(): string {
    this.#sticks += 1;
    return join(this.node.context.folder, `stick-${this.#sticks}.img`);
  }

  /** Inserts a stick that is none: screen and serial console say the one thing to do. */
  async answers(
    name: string,
    words: RegExp,
    make: (image: string, files: string, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const image = this.#image();
    await make(image, this.#files, this.#signal);
    await this.#devices.plugStick(name, image);
    try {
      await this.#said(name, words);
    } finally {
      await this.#devices.pullStick(name);
    }
  }

  async #said(name: string, words: RegExp): Promise<void> {
    await this.screen.says(words, name);
    await this.screen.serialSays(words);
    await this.node.untilDone();
    if (!(await this.node.isSealed()))
      throw new Failure('fatal', 'the host is not sealed any more');
  }

  async pulledTooEarly(): Promise<void> {
    const name = 'pulled';
    const image = this.#image();
    await copied(image, this.#files, this.#signal);
    await this.#devices.plugSlowStick(name, image, SLOW_BYTES_PER_SECOND);
    await onHost(this.node.booted, ['timeout', '300', 'sh', '-c', IS_READ], this.#signal);
    await this.#devices.pullStick(name);
    await this.#said(name, /pulled out before it was read.*Insert it again, and leave it/);
  }

  /** The right files at last, on a stick without a label; then the page on it, as a phone shows it. */
  async setsUp(): Promise<void> {
    const { booted, context } = this.node;
    const image = this.#image();
    await copied(image, this.#files, this.#signal);
    await this.#devices.plugStick('right', image);
    await this.screen.says(/being set up for its site\. Do not switch it off/, 'setting-up');
    const pass = new RegExp(
      `PASS: this host is set up for its site: cluster ${SITE_NAME}\\.site\\.test, volume \\d+, since`,
    );
    await this.screen.says(pass, 'pass', PASS_MS);
    await this.screen.serialSays(/PASS: this host is set up for its site/);
    await this.node.untilDone();
    await this.#expectPage(image, context.out);
    await asMachine(booted).devices.pullStick('right');
  }

  async #expectPage(image: string, out: string): Promise<void> {
    const page = join(out, RESULT_FILES.page);
    const told = async () => {
      await quickly(
        'mcopy',
        ['-n', '-o', '-i', inPartition(image), `::${RESULT_FILES.page}`, page],
        this.#signal,
      );
      const shown = await readFile(page, 'utf8');
      if (shown.includes('<title>PASS</title>') && shown.includes(`${SITE_NAME}.site.test`)) return;
      throw new Failure('retry', 'the page on the stick does not say PASS, and where');
    };
    await eventually(told, TOLD_MS, this.#signal);
    await photographPage(page, join(out, 'sno-result.png'), this.#signal);
  }
}

const PLAN = 'reconfigure';

const FAT32 = 'Copy the files of the site volume to a stick that is formatted as FAT32';

/** One after another, as it goes; each leaves the host as it was, but the last. */
const troubles: TroublesOf<Shop> = (shop) => [
  needed(shown('no stick yet', () => shop().open(), PLAN)),
  shown(
    'stick with photos, without a label',
    () =>
      shop().answers(
        'photos',
        /has no site-volume\.json.*Insert the stick that you got for this site/,
        (image, _, signal) => withPhotos(image, `${image}.files`, signal),
      ),
    PLAN,
  ),
  shown(
    'stick formatted as exFAT',
    () =>
      shop().answers('exfat', new RegExp(`formatted as exFAT.*${FAT32}`), (image, _, signal) =>
        formattedAs('exfat', image, ['-L', 'SITE-CONFIG'], signal),
      ),
    PLAN,
  ),
  shown(
    'stick formatted as NTFS, without a label',
    () =>
      shop().answers('ntfs', new RegExp(`formatted as NTFS.*${FAT32}`), (image, _, signal) =>
        formattedAs('ntfs', image, [], signal),
      ),
    PLAN,
  ),
  shown(
    'files in a folder of the stick',
    () =>
      shop().answers(
        'folder',
        /in a folder of the stick.*Move everything that is in the folder files to the top level/,
        tooDeep,
      ),
    PLAN,
  ),
  shown('stick pulled while it is read', () => shop().pulledTooEarly(), PLAN),
  shown(
    'stick that cannot be read',
    () =>
      shop().answers(
        'damaged',
        /cannot be read as a site volume.*to an empty stick, and insert that one/,
        damaged,
      ),
    PLAN,
  ),
  shown('files of the site, on a stick without a label', () => shop().setsUp(), PLAN),
  shown('SELinux enforces', () => requireEnforced(shop().node), PLAN),
];

export const technicianRows = demandedOf(troubles);

/** What docs/technician.md says, done with a node of the factory; its photographs are in the scenario's folder. */
export const technician: Scenario = (context) => {
  const node = new ShippedNode(context);
  node.hardware = { screen: true };
  const shop = new Shop(node);
  return scenarioOf(node, [
    {
      title: 'Take a node from the factory',
      run: async () => {
        requireBrowser();
        await node.unpack();
      },
    },
    { title: 'Switch it on at the site', run: async () => void (await bootAgain(node)) },
    ...meetAll(
      troubles(() => shop),
      context,
    ),
  ]);
};
