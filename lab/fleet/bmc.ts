import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { execa } from 'execa';
import { z } from 'zod';
import { ensureComponent } from '../components/component.ts';
import { sushyTools } from '../components/sushy-tools.ts';
import { eventually } from '../eventually.ts';
import type { LabContext } from '../scenario.ts';
import { Redfish } from './redfish.ts';

const START_MS = 60_000;
const PORTS = { redfish: 8091, changes: 8092 } as const;

type Power = 'On' | 'Off';

/** A machine whose BMC switches it off and on. */
export interface Machine {
  readonly off: () => Promise<void>;
  /** @param medium the path of the image in its drive, if there is one */
  readonly on: (medium: string | undefined) => Promise<void>;
}

/** A system as sushy-tools tells its changes: the image of a device is its path, whether it is read-only, whether it is inserted. */
const changeSchema = z.object({
  power_state: z.enum(['On', 'Off']),
  boot_image: z
    .record(z.string(), z.tuple([z.string().nullable(), z.boolean(), z.boolean()]))
    .optional(),
});

/** The BMC of a host of the lab: sushy-tools, which tells the lab what it is to do to the host. */
export class Bmc {
  readonly #machine: Machine;
  #power: Power;
  /** One after the other. */
  #done: Promise<void> = Promise.resolve();

  /** @param power as the machine is now */
  constructor(machine: Machine, power: Power) {
    this.#machine = machine;
    this.#power = power;
  }

  async start(context: LabContext): Promise<Redfish> {
    const { folder, signal, teardown } = context;
    const packages = await ensureComponent(sushyTools, { signal, report: () => undefined });
    const changes = createServer((request, response) => {
      void this.#take(request).then(
        () => response.end(),
        () => response.writeHead(400).end(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      changes.once('error', reject);
      changes.listen(PORTS.changes, '127.0.0.1', resolve);
    });
    teardown.add('stop what the BMC tells', async () => {
      changes.closeAllConnections();
      await new Promise((resolve) => changes.close(resolve));
    });
    const state = join(folder, 'bmc');
    await mkdir(state);
    const config = join(state, 'emulator.conf');
    await writeFile(config, emulatorConfig(state, this.#power));
    const args = ['-m', 'sushy_tools.emulator.main', '--config', config];
    const emulator = execa('python3', args, {
      env: { PYTHONPATH: join(packages, 'packages'), TMPDIR: state },
      stdio: [
        'ignore',
        { file: join(context.out, 'bmc.log') },
        { file: join(context.out, 'bmc.log') },
      ],
      reject: false,
    });
    teardown.add('stop the BMC', async () => {
      emulator.kill();
      await emulator;
      await this.#done.catch(() => undefined);
    });
    const url = `http://127.0.0.1:${PORTS.redfish}/redfish/v1/Systems/${SYSTEM}`;
    const redfish = new Redfish(url, signal);
    await eventually(() => redfish.inserted(), START_MS, signal);
    return redfish;
  }

  /** Until the machine is as the BMC says. @throws what kept it from that */
  settled(): Promise<void> {
    return this.#done;
  }

  async #take(request: IncomingMessage): Promise<void> {
    const { power_state: power, boot_image: images } = changeSchema.parse(await json(request));
    if (power === this.#power) return;
    this.#power = power;
    const [path, , isInserted] = images?.Cd ?? [null, true, false];
    const medium = isInserted ? (path ?? undefined) : undefined;
    const { off, on } = this.#machine;
    this.#done = this.#done.then(() => (power === 'Off' ? off() : on(medium)));
    // Whoever waits for it learns that.
    this.#done.catch(() => undefined);
  }
}

const SYSTEM = '27946b59-9e44-4fa7-8e91-f3527a1ef094';

/** Python, as Flask reads it: of these values JSON is a part. */
const emulatorConfig = (state: string, power: Power): string =>
  Object.entries({
    SUSHY_EMULATOR_LISTEN_IP: '127.0.0.1',
    SUSHY_EMULATOR_LISTEN_PORT: PORTS.redfish,
    SUSHY_EMULATOR_STATE_DIR: state,
    EXTERNAL_NOTIFICATION_URL: `http://127.0.0.1:${PORTS.changes}`,
    SUSHY_EMULATOR_FAKE_SYSTEMS: [{ uuid: SYSTEM, name: 'edge', power_state: power, nics: [] }],
  })
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
    .join('')
    .replace('"nics"', '"external_notifier": True, "nics"')
    .concat('SUSHY_EMULATOR_FAKE_DRIVER = True\n');
