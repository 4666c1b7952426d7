import { EventEmitter, once } from 'node:events';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { bootstrapRights, type InstallContext } from '../../../../agents/steps/host-context.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { createLogger } from '../../../../lib/base/log/logger.ts';
import type { InstallableCluster } from '../../../../lib/config/cluster/cluster.ts';
import { Progress } from '../../../../lib/engine/steps/progress.ts';
import type { Outcome } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { type HostEndpoints, hostPaths } from '../../../../lib/host/paths.ts';
import { defaultSettings, type Settings } from '../../../../lib/host/settings.ts';
import { waitForFiles } from '../../../../lib/host/watch.ts';
import { cluster } from './cluster.ts';
import { FakePrograms } from './programs.ts';

/** Options of a test's host. */
export interface HostOptions {
  readonly cluster?: Partial<InstallableCluster>;
  readonly settings?: Partial<Settings>;
  readonly hostname?: string;
  readonly endpoints?: HostEndpoints;
  /** `real`: the programs of the test machine, none of them guarded. */
  readonly programs?: 'real';
}

/** A step's failure: its kind decides whether it is retried, its code is for programs. */
export interface Said {
  readonly kind: string;
  readonly code: string;
  readonly message: string;
}

/**
 * A host as a folder, to test a step: files below a root, programs in a folder of PATH that
 * fail unless the test defines them, no network, and no clock but its own. It is removed when the
 * test ends. `fakeRuntime`, `fakeApi` and `fakeEtcd` add services to it.
 */
export function testHost(t: Test, options: HostOptions = {}): TestHost {
  // Not below the checkout: a socket's path is limited to about a hundred characters.
  const folder = mkdtempSync(join(tmpdir(), 'sno-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return new TestHost(t, folder, options);
}

export class TestHost {
  readonly root: string;
  readonly programs: FakePrograms;
  readonly paths: InstallContext['paths'];
  readonly context: InstallContext;
  /** What the steps logged, one entry per line. */
  readonly lines: string[] = [];
  readonly #logged = new EventEmitter();

  constructor(t: Test, folder: string, options: HostOptions) {
    this.root = join(folder, 'host');
    mkdirSync(this.root);
    this.programs = new FakePrograms(t, join(folder, 'bin'), this.root, options.programs);
    this.paths = hostPaths(this.root, options.endpoints);
    this.context = {
      paths: this.paths,
      settings: { ...defaultSettings, ...options.settings },
      cluster: { ...cluster, ...options.cluster },
      hostname: () => options.hostname ?? 'edge-0',
      bootTime: async () => new Date('2030-01-01T00:00:00Z'),
      ...bootstrapRights(this.paths, cluster),
    };
  }

  /** The path on this machine for a path on the host. */
  at(path: string): string {
    return path.startsWith(this.root) ? path : this.paths.at(path);
  }

  write(path: string, contents: string | Uint8Array = '', mode = 0o644): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), contents, { mode });
  }

  read(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  remove(path: string): void {
    rmSync(this.at(path), { recursive: true });
  }

  has(path: string): boolean {
    return lstatSync(this.at(path), { throwIfNoEntry: false }) !== undefined;
  }

  /** Permissions of a file, such as 0o600. */
  mode(path: string): number {
    return lstatSync(this.at(path)).mode & 0o777;
  }

  progress(signal: AbortSignal = AbortSignal.timeout(300_000), leftMs = 300_000): Progress {
    const write = (line: string) => {
      this.lines.push(line);
      this.#logged.emit('line');
    };
    const log = createLogger({ write, priorities: false });
    return new Progress(signal, performance.now() + leftMs, log, { waiting: () => true });
  }

  run(step: StepBody<InstallContext>): Promise<Outcome> {
    return step.run(this.context, this.progress());
  }

  holds(step: StepBody<InstallContext>): Promise<boolean> {
    return step.holds(this.context, this.progress());
  }

  /** Waits until the steps have logged a match; fails at the deadline. */
  async said(words: RegExp): Promise<void> {
    const signal = AbortSignal.timeout(120_000);
    while (!words.test(this.lines.join(''))) await once(this.#logged, 'line', { signal });
  }

  /** Runs a step until it logs a match, then stops it; true if both worked. */
  async waitsFor(step: StepBody<InstallContext>, says: RegExp): Promise<boolean> {
    const stop = new AbortController();
    const said = this.said(says);
    said.catch(() => undefined).then(() => stop.abort(new Error('stopped by the test')));
    const isDone = await step.run(this.context, this.progress(stop.signal)).then(
      () => true,
      (error: unknown) => {
        if (!stop.signal.aborted) throw error;
        return false;
      },
    );
    return stop.signal.aborted && says.test(this.lines.join('')) && !isDone;
  }

  /** Runs a step (or the given function), stops it once that file exists, and returns how it ends. */
  async stoppedAt(
    path: string,
    begin: Pick<StepBody<InstallContext>, 'run'> | ((progress: Progress) => Promise<unknown>),
  ): Promise<unknown> {
    const stop = new AbortController();
    const progress = this.progress(stop.signal);
    const begun = typeof begin === 'function' ? begin(progress) : begin.run(this.context, progress);
    const ended = begun.then(
      (outcome) => outcome,
      (error: unknown) => error,
    );
    await waitForFiles([this.at(path)], async () => this.has(path), {
      signal: AbortSignal.timeout(120_000),
      deadlineMs: 120_000,
      describe: () => path,
    });
    stop.abort(new Error('told to stop'));
    return ended;
  }

  /** Runs a step that fails, and returns its failure. */
  async failureOf(step: StepBody<InstallContext>): Promise<Said> {
    const outcome = await this.run(step).catch((error: unknown) => error);
    if (outcome instanceof Failure) {
      const { kind, code, message } = outcome;
      return { kind, code, message };
    }
    if (outcome instanceof Error) throw outcome;
    throw new Error(`${step.name} did not fail: ${JSON.stringify(outcome)}`);
  }
}
