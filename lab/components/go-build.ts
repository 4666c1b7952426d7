import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { BuildContext } from './component.ts';

/** Enough for two compilers that seldom collect. */
const ROOMY_BYTES = 12 * 2 ** 30;

export interface GoBuild {
  /** Folder with go.mod, go.sum and tools.go, which pin every dependency. */
  readonly module: string;
  /** Import paths of main packages, with the names of their binaries. */
  readonly packages: Readonly<Record<string, string>>;
  /** Import paths of packages whose tests are built, with the names of the test binaries. */
  readonly tests?: Readonly<Record<string, string>>;
  readonly ldflags?: readonly string[];
  readonly tags?: readonly string[];
  /** The program has a part in C, which is linked statically, too. Default: no. */
  readonly cgo?: boolean;
  /** Uses a build cache that is deleted afterwards: what is built once would only fill Go's own. */
  readonly temporaryCache?: boolean;
  readonly deadlineMs: number;
}

/** Builds static binaries of pinned Go modules into `target`. */
export async function buildGoBinaries(
  target: string,
  {
    module,
    packages,
    tests = {},
    ldflags = [],
    tags = [],
    cgo,
    temporaryCache,
    deadlineMs,
  }: GoBuild,
  { signal, report }: BuildContext,
): Promise<void> {
  const source = join(target, '.source');
  const cache = join(target, '.cache');
  await cp(module, source, { recursive: true });
  const linking = cgo === true ? ['-linkmode', 'external', '-extldflags', '-static'] : [];
  // Go's own resolver, as without cgo: the C library cannot be linked statically with its own.
  const allTags = cgo === true ? [...tags, 'netgo', 'osusergo'] : tags;
  const flags = [
    '-trimpath',
    // The linker would drop it again: written for nothing, it takes a tenth of the time.
    '-gcflags=all=-dwarf=false',
    '-ldflags',
    ['-s', '-w', ...linking, ...ldflags].join(' '),
    '-tags',
    allTags.join(),
  ];
  const until = Date.now() + deadlineMs;
  const go = (args: readonly string[]) =>
    execa('go', args, {
      cwd: source,
      // Uses the installed Go; go.sum determines what is built.
      env: {
        ...{
          GOTOOLCHAIN: 'local',
          CGO_ENABLED: cgo === true ? '1' : '0',
          GOFLAGS: '-mod=readonly',
        },
        // The compiler collects its garbage less often: a tenth of the processor time, for some GiB.
        ...(totalmem() >= ROOMY_BYTES ? { GOGC: '400' } : {}),
        ...(temporaryCache ? { GOCACHE: cache } : {}),
      },
      cancelSignal: signal,
      timeout: Math.max(1, until - Date.now()),
    });
  report(`go build ${Object.values(packages).join(', ')}`);
  // All at once: one is linked while another is compiled.
  const built = join(target, '.built');
  await mkdir(built);
  await go(['build', ...flags, '-o', `${built}/`, ...Object.keys(packages)]);
  for (const [path, name] of Object.entries(packages)) {
    await rename(join(built, await programName(path, source)), join(target, name));
  }
  await rm(built, { recursive: true });
  for (const [path, name] of Object.entries(tests)) {
    report(`go test -c ${name}`);
    await go(['test', '-c', ...flags, '-o', join(target, name), path]);
  }
  await rm(source, { recursive: true });
  await rm(cache, { recursive: true, force: true });
}

/** The name that Go gives to a program: the last element of its import path that is not a major version. */
async function programName(path: string, source: string): Promise<string> {
  const whole = path === '.' ? await ownPath(source) : path;
  return whole.split('/').findLast((element) => !/^v\d+$/.test(element)) ?? whole;
}

async function ownPath(source: string): Promise<string> {
  const text = await readFile(join(source, 'go.mod'), 'utf8');
  return /^module (\S+)/m.exec(text)?.[1] ?? '';
}

/** The folder of a module in Go's module cache, downloaded if missing. */
export async function goModuleFolder(
  module: string,
  name: string,
  work: string,
  signal: AbortSignal,
): Promise<string> {
  await mkdir(work, { recursive: true });
  await cp(module, work, { recursive: true });
  const { stdout } = await execa('go', ['mod', 'download', '-json', name], {
    cwd: work,
    env: { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' },
    cancelSignal: signal,
    timeout: 5 * 60_000,
  });
  const answer: unknown = JSON.parse(stdout);
  if (typeof answer === 'object' && answer !== null && 'Dir' in answer) return String(answer.Dir);
  throw new Error(`go mod download of ${name} returned no folder: ${stdout.slice(0, 200)}`);
}
