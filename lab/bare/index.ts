import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { run } from '../../lib/host/command.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { AllInOne } from '../all-in-one.ts';
import { quickly } from '../host/command.ts';
import type { Host } from '../host/host.ts';
import { onHost } from '../host/on-host.ts';
import { type Report, scenarioOf } from '../installation.ts';
import type { LabContext, Scenario, ScenarioStep } from '../scenario.ts';
import { bareUnits, makeBare } from './host.ts';
import { outageOf } from './outage.ts';
import { backUp, restoreBackup, restoreBare } from './restore.ts';
import { bareName } from './units.ts';
import { type Usable, untilUsable } from './usable.ts';

/** First boots of a host; after each of them it boots with bare units. */
const BOOTS = 3;
/** Of the API server after each boot. */
const RESTARTS = 2;
const BETWEEN_RESTARTS_MS = 5_000;
/** More than the program's own limit. */
const RESTART_MS = 4 * 60_000;
const API_SERVER = 'kube-apiserver';

const usableSchema = z.object({ api: z.number(), node: z.number(), pod: z.number() });

const disturbance = z.object({ outage: z.number(), until: z.number() });

/** `lab/out/aio-beside-bare/measured.json`; all times in seconds. */
const measuredSchema = z.object({
  /** First boots, from the start of aiokube. `payload`: of it, until the images are unpacked. */
  ours: z.array(usableSchema.extend({ payload: z.number() })),
  /** From the start of the first bare unit. */
  bare: z.array(usableSchema),
  /** For how long each restart left the API server unready. */
  outages: z.object({ ours: z.array(z.number()), bare: z.array(z.number()) }),
  /** Restores of the same database: for how long the API was not ready, and when it was so for good. */
  restores: z.object({ ours: z.array(disturbance), bare: z.array(disturbance) }),
});

export type BesideBare = z.infer<typeof measuredSchema>;

const measuredFile = (out: string): string => join(out, 'measured.json');

/** What the scenario measured; `out` is its folder in `lab/out`. */
export async function readBesideBare(out: string): Promise<BesideBare> {
  return measuredSchema.parse(JSON.parse(await readFile(measuredFile(out), 'utf8')));
}

/** All-in-one hosts and the same programs started by bare units, boot by boot in turns. */
export const besideBare: Scenario = (context) => {
  const turns = new Turns(context);
  const numbers = Array.from({ length: BOOTS }, (_, at) => at + 1);
  return scenarioOf(turns.run, [...turns.prepare(), ...numbers.flatMap((n) => turns.turn(n))]);
};

/** The same disk, again and again as coreos-installer left it. */
class Turns {
  readonly run: AllInOne;
  readonly #context: LabContext;
  readonly #measured: BesideBare = {
    ours: [],
    bare: [],
    outages: { ours: [], bare: [] },
    restores: { ours: [], bare: [] },
  };

  constructor(context: LabContext) {
    this.run = new AllInOne(context);
    this.#context = context;
  }

  prepare(): ScenarioStep[] {
    const keep = () => this.#copy(this.run.site.disk.file, this.#newDisk);
    return [...this.run.stepsToDisk(), { title: 'Keep a copy of the disk', run: keep }];
  }

  turn(n: number): ScenarioStep[] {
    return [
      { title: `First boot (${n})`, run: (report) => this.#firstBoot(`disk-${n}`, report) },
      { title: `Restart the API server's static pod (${n})`, run: () => this.#restartPods() },
      { title: `Restore a backup (${n})`, run: () => this.#restoreBackup() },
      { title: `Boot with bare units (${n})`, run: () => this.#bareBoot(`bare-${n}`) },
      { title: `Restart the API server's bare unit (${n})`, run: () => this.#restartUnits() },
      { title: `Restore its database by etcdutl (${n})`, run: () => this.#restoreBare() },
    ];
  }

  get #newDisk(): string {
    return join(this.#context.folder, 'new-disk.raw');
  }

  /**
   * As a new file: the kernel may hold the earlier one for a moment after its host has stopped, and would write what is left of
   * that host's file system into the copy.
   */
  async #copy(from: string, to: string): Promise<void> {
    const copy = `${to}.copy`;
    await quickly('cp', ['--sparse=always', from, copy], this.#context.signal);
    await rename(copy, to);
  }

  async #firstBoot(label: string, report: Report): Promise<void> {
    await this.run.host?.stop();
    await this.#copy(this.#newDisk, this.run.site.disk.file);
    const usable = await this.#boot(label, ['aiokube.service']);
    await this.run.finish(report, label);
    const steps = await this.run.agentSteps();
    const payload = steps.find(({ agent, name }) => agent === 'aiokube' && name === 'payload');
    this.#measured.ours.push({ ...usable, payload: payload?.seconds ?? 0 });
    await this.#write();
  }

  async #bareBoot(label: string): Promise<void> {
    const { components, signal } = this.#context;
    await makeBare(this.run.booted, components, signal);
    await this.run.booted.stop();
    this.#measured.bare.push(await this.#boot(label, bareUnits));
    await this.#write();
  }

  async #boot(label: string, units: readonly string[]): Promise<Usable> {
    const { promise, resolve, reject } = Promise.withResolvers<Usable>();
    const [usable] = await Promise.all([
      promise,
      this.run.bootInstalled(label, async () => {
        untilUsable(this.run.cluster, units, this.#context.signal).then(resolve, reject);
      }),
    ]);
    return usable;
  }

  /** As sno-rotate does when files have changed that the API server reads once. */
  async #restartPods(): Promise<void> {
    const { signal } = this.#context;
    await this.#restarts('ours', async (n, { entrance }) => {
      if (!('leader' in entrance)) throw new Error('this scenario is for containers');
      const { leader } = entrance;
      const script = join(import.meta.dirname, 'replace-api-server.ts');
      const args = ['-t', `${leader}`, '-n', '--', process.execPath, script];
      const deadlineMs = RESTART_MS;
      await run('nsenter', [...args, `${leader}`, `${n}`], {
        signal,
        deadlineMs,
      });
    });
  }

  async #restartUnits(): Promise<void> {
    const command = ['systemctl', 'restart', bareName(API_SERVER)];
    await this.#restarts('bare', async (_, host) => {
      await onHost(host, command, this.#context.signal);
    });
  }

  async #restarts(
    side: 'ours' | 'bare',
    restart: (n: number, host: Host) => Promise<void>,
  ): Promise<void> {
    const { signal } = this.#context;
    const host = this.run.booted;
    for (let n = 1; n <= RESTARTS; n++) {
      await sleep(BETWEEN_RESTARTS_MS, undefined, { signal });
      const outage = await outageOf({ host }, signal, () => restart(n, host));
      this.#measured.outages[side].push(outage);
    }
    await this.#write();
  }

  get #database(): string {
    return join(this.#context.folder, 'backup.db');
  }

  async #restoreBackup(): Promise<void> {
    const { signal } = this.#context;
    const host = this.run.booted;
    const name = await backUp(host, this.#database, signal);
    this.#measured.restores.ours.push(await restoreBackup(host, name, signal));
    await this.#write();
  }

  async #restoreBare(): Promise<void> {
    const { signal } = this.#context;
    this.#measured.restores.bare.push(await restoreBare(this.run.booted, this.#database, signal));
    await this.#write();
  }

  async #write(): Promise<void> {
    const text = `${JSON.stringify(this.#measured, null, 2)}\n`;
    await writeFileAtomic(measuredFile(this.#context.out), text, 0o644);
  }
}
