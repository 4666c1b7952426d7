import { randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { AllInOne } from './all-in-one.ts';
import { waitForStep } from './host/wait-for-step.ts';
import type { Report } from './installation.ts';
import { executable } from './paths.ts';
import { type Trace, tracesOn } from './raw-disk.ts';
import { expectNone, expectPlanted, filesBelow, type GoneFile, tracesOf } from './traces.ts';

const ASSETS = 'opt/openshift';
const MANIFEST = 'manifests/till.yaml';
/** Where a host keeps what it goes on with. Its programs and images are in none of them. */
const STAYING = ['etc', 'var/lib/etcd', 'var/lib/kubelet', 'var/lib/sno-agents'];
const WITHOUT = ['var/lib/sno-agents/payload', 'var/lib/sno-agents/bin'];
/** The Secret, what was rendered. */
const LEAST_TRACES = 10;

/** An all-in-one host with a Secret in a manifest, whose disk is searched for what its installation was made from. */
export class SearchedAllInOne extends AllInOne {
  #files: readonly GoneFile[] = [];
  #traces: readonly Trace[] = [];

  override async create(): Promise<void> {
    const path = join(this.context.folder, 'installation', MANIFEST);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(
      path,
      `apiVersion: v1
kind: Secret
metadata: {name: till, namespace: default}
data: {pin: ${randomBytes(300).toString('base64')}}
`,
    );
    await super.create();
  }

  override async finish(report: Report, label?: string): Promise<void> {
    await Promise.all([super.finish(report, label), this.#keepFiles()]);
  }

  async #keepFiles(): Promise<void> {
    const { rootDir } = this.booted;
    await waitForStep(this.booted, 'aiokube', ['steady-state', 'started'], this.context.signal);
    this.#files = await filesBelow(join(rootDir, ASSETS), `/${ASSETS}`);
  }

  /** The host is turned off: whoever has the disk sees this. */
  async checkRawDisk(report: Report): Promise<void> {
    const { signal } = this.context;
    const all = tracesOf(this.#files);
    const stays = await this.#staying(all);
    this.#traces = all.filter(({ name }) => !stays.has(name));
    const isThere = this.#traces.some(({ name }) => name.endsWith(MANIFEST));
    if (!isThere || this.#traces.length < LEAST_TRACES) {
      const found = this.#traces.map(({ name }) => name).join(', ');
      throw new Failure('fatal', 'too little to look for', { expected: MANIFEST, found });
    }
    report(`${this.#traces.length} traces`);
    // They are read from the host while there is one.
    await this.agentSteps();
    // Without an orderly end: what must be gone is gone by now.
    await this.booted.powerCut();
    this.host = undefined;
    await expectNone(this.site.disk, this.#traces, signal);
    await expectPlanted(this.site.disk, this.#traces, join(this.context.folder, 'planted'), signal);
  }

  /** What the host goes on with, and may have on its disk. */
  async #staying(traces: readonly Trace[]): Promise<Set<string>> {
    const { rootDir } = this.booted;
    const found = new Set<string>();
    const files = [executable];
    for (const folder of STAYING) {
      const entries = await readdir(join(rootDir, folder), {
        recursive: true,
        withFileTypes: true,
      });
      for (const entry of entries.filter((each) => each.isFile())) {
        const path = join(entry.parentPath, entry.name);
        if (!WITHOUT.some((each) => relative(rootDir, path).startsWith(each))) files.push(path);
      }
    }
    for (const file of files) {
      for (const name of await tracesOn(file, traces, this.context.signal)) found.add(name);
    }
    return found;
  }
}
