import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { BuildContext } from './component.ts';

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
  const until = Date.now() + deadlineMs;
  const builds = [
    ...Object.entries(packages).map(([path, name]) => ({ path, name, command: ['build'] })),
    ...Object.entries(tests).map(([path, name]) => ({ path, name, command: ['test', '-c'] })),
  ];
  for (const { path, name, command } of builds) {
    report(`go build ${name}`);
    const flags = [
      '-trimpath',
      '-ldflags',
      ['-s', '-w', ...linking, ...ldflags].join(' '),
      '-tags',
      allTags.join(),
    ];
    await execa('go', [...command, ...flags, '-o', join(target, name), path], {
      cwd: source,
      // Uses the installed Go; go.sum determines what is built.
      env: {
        ...{
          GOTOOLCHAIN: 'local',
          CGO_ENABLED: cgo === true ? '1' : '0',
          GOFLAGS: '-mod=readonly',
        },
        ...(temporaryCache ? { GOCACHE: cache } : {}),
      },
      cancelSignal: signal,
      timeout: Math.max(1, until - Date.now()),
    });
  }
  await rm(source, { recursive: true });
  await rm(cache, { recursive: true, force: true });
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
