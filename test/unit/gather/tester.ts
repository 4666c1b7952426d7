import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostPaths } from '../../../lib/host/paths.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { Synthetic } from './synthetic.ts';

/** The gather program with synthetic sources. */
export const program = join(import.meta.dirname, 'fixtures/gather.ts');
/** Halves the time of each of the many starts. */
const NODE_COMPILE_CACHE = join(import.meta.dirname, '../../../node_modules/.cache/compile');
const GUARD_MS = 45_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A root with a host's folders, a home, and gather running on it; removed at the end of the test. */
export class GatherTester {
  readonly root: string;
  readonly home: string;
  /** The program to run: the TypeScript source, or a bundle of it. */
  program = program;

  constructor(t: { teardown(run: () => void): void }, settings: Partial<Settings> = {}) {
    this.root = mkdtempSync(join(tmpdir(), 'gather-test-'));
    t.teardown(() => rmSync(this.root, { recursive: true, force: true }));
    this.home = join(this.root, 'home');
    for (const folder of ['home', 'tmp', 'var/tmp', 'run', 'dev/shm']) {
      mkdirSync(join(this.root, folder), { recursive: true });
    }
    const { config } = hostPaths(this.root);
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'settings.json'), JSON.stringify(settings));
  }

  /** `args` may begin with the name it is called by. */
  start(
    args: readonly string[],
    sources: readonly Synthetic[],
    env: Record<string, string> = {},
  ): Running {
    const { TMPDIR: _tmp, TAR_FILE: _file, ...plain } = process.env;
    const own = {
      NODE_COMPILE_CACHE,
      ROOT: this.root,
      HOME: this.home,
      AS_ROOT: 'yes',
      SOURCES: JSON.stringify(sources),
    };
    const named = args[0]?.endsWith('.sh') === true ? args : ['gather', ...args];
    return new Running(
      spawn(process.execPath, [this.program, ...named], {
        env: { ...plain, ...own, ...env },
        cwd: this.root,
      }),
    );
  }

  run(...given: Parameters<GatherTester['start']>): Promise<Ended> {
    return this.start(...given).ended;
  }
}

export class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stderr = '';

  constructor(child: ChildProcess) {
    this.child = child;
    const guard = setTimeout(() => child.kill('SIGKILL'), GUARD_MS);
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      this.#stderr += part;
    });
    this.ended = once(child, 'close').then(([code, signal]) => {
      clearTimeout(guard);
      return { code, signal, stdout: Buffer.concat(chunks), stderr: this.#stderr };
    });
  }

  /** Resolves as soon as its output contains the text. */
  async said(text: string): Promise<void> {
    while (!this.#stderr.includes(text)) {
      const { stderr } = this.child;
      if (stderr === null || stderr.readableEnded) throw new Error(`it never said ${text}`);
      await Promise.race([once(stderr, 'data'), once(stderr, 'end')]);
    }
  }
}

/** Names in an archive, listed by GNU tar; throws if the archive is incomplete. */
export function listed(archive: string): string[] {
  return tar('tzf', archive).toString('utf8').trimEnd().split('\n');
}

/** One file of an archive, extracted by GNU tar. */
export function unpacked(archive: string, name: string): string {
  return tar('xzOf', archive, name).toString('utf8');
}

function tar(...args: readonly string[]): Buffer {
  return execFileSync('tar', args, { maxBuffer: 1 << 30, timeout: 30_000, stdio: 'pipe' });
}
