import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import { run } from '../../lib/host/command.ts';
import { distFolder } from '../paths.ts';
import { documentedCommand } from './documented.ts';

const UNPACK_MS = 120_000;

/** A folder of somebody who has nothing of the project but a release. */
export interface Laptop {
  /** Where the commands run. */
  readonly folder: string;
  /** Runs the documented command that begins with these words, with more arguments. Returns what it printed. */
  type(beginning: string, typed: Typed): Promise<string>;
}

export interface Typed {
  /** What the reader's own network needs beside the documented arguments. */
  readonly more?: readonly string[];
  /** Lines on standard input. */
  readonly answers?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
}

/** Unpacks the release of this checkout in an empty folder. `programs`: folders of what the document has the reader install. */
export async function openLaptop(
  folder: string,
  programs: readonly string[],
  signal: AbortSignal,
): Promise<Laptop> {
  await mkdir(folder);
  const [archive, other] = (await readdir(join(distFolder, 'release'))).filter((name) =>
    name.endsWith('-linux-x64.tar.gz'),
  );
  if (archive === undefined || other !== undefined) {
    throw new Failure('fatal', 'dist/release has no one archive for x64');
  }
  const path = join(distFolder, 'release', archive);
  await run('tar', ['-xzf', path, '-C', folder], { signal, deadlineMs: UNPACK_MS });
  const release = join(folder, archive.replace('.tar.gz', ''));
  const document = await readFile(join(release, 'docs/first-machine.md'), 'utf8');
  const search = [join(release, 'bin'), ...programs, process.env.PATH].join(':');
  return {
    folder,
    async type(beginning, { more = [], answers = [], env = {}, deadlineMs }) {
      const [program = '', ...args] = [...documentedCommand(document, beginning), ...more];
      const result = await execa(program, args, {
        cwd: folder,
        // Nothing of the shell that the lab was started from.
        env: { PATH: search, HOME: folder, ...env },
        extendEnv: false,
        input: answers.map((line) => `${line}\n`).join(''),
        cancelSignal: signal,
        timeout: deadlineMs,
        reject: false,
      });
      if (result.exitCode === 0) return result.stdout;
      throw new Failure('fatal', `"${[program, ...args].join(' ')}" failed`, {
        found: result.timedOut ? 'its deadline' : result.stderr.slice(-2000),
      });
    },
  };
}
