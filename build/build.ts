/**
 * `npm run build [-- --all]`: builds dist/bin/sno-agents with a link for each agent, then
 * dist/bin/sno, which contains the digest of the executable that it installs on hosts. `--all`
 * also builds both for linux-arm64 in dist/linux-arm64/bin, and an executable of each single agent
 * in dist/linux-<processor>/single. The same commit produces the same bytes in every folder.
 */
import { mkdir, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { z } from 'zod';
import { executableMark } from '../lib/engine/agents/executable-mark.ts';
import { ARCHITECTURES, type Architecture, hostArchitecture } from './base-node.ts';
import { builtDigest, inputsDigest, type Stamp } from './up-to-date.ts';

const BUILD_DEADLINE_MS = 10 * 60_000;
const BUILD_ALL_DEADLINE_MS = 60 * 60_000;
const COMMAND_DEADLINE_MS = 10_000;
const AGENTS = 'sno-agents';
const CLI = 'sno';

export interface BuildOptions {
  /** The checkout. */
  root: string;
  /** Receives `bin/`, and beside it what the build caches for the next run. */
  dist: string;
  /** With `buildAll`: also build an executable of each single agent. Default true. */
  single?: boolean;
}

export interface BuiltExecutable {
  path: string;
  sha256: string;
  /** False if an executable built from the same inputs already existed. */
  isNew: boolean;
}

export interface ExecutablePair {
  agents: BuiltExecutable;
  cli: BuiltExecutable;
}

interface Program {
  /** TypeScript entry point, relative to the checkout. */
  entry: string;
  constants: Record<string, string>;
  /** The single agent that it contains; undefined: all. */
  agent?: string;
  /** Argument lists without side effects that exercise the code used at every start. */
  warmUp: readonly (readonly string[])[];
  /** A comment at the start of the program. */
  mark?: string;
  v8Flags: readonly string[];
}

/**
 * Agents run beside what the host is for: the youngest part of the heap stays at some MiB, and what is free is given
 * back. Without them reconfigure needs 122 to 135 MiB instead of 109 (docs/executables.md).
 */
export const AGENT_V8_FLAGS = ['--max-semi-space-size=1', '--optimize-for-size'];

/** Builds both executables for this processor unless they are up to date. */
export function buildExecutables(
  options: BuildOptions,
  signal: AbortSignal,
): Promise<ExecutablePair> {
  return buildPair(options, hostArchitecture(), signal);
}

/** Builds both executables for every processor, and each single agent. */
export async function buildAll(
  options: BuildOptions,
  signal: AbortSignal,
): Promise<BuiltExecutable[]> {
  const host = hostArchitecture();
  const built: BuiltExecutable[] = [];
  // This host's processor first: its executable is run to list the agents.
  for (const arch of [host, ...ARCHITECTURES.filter((other) => other !== host)]) {
    const { agents, cli } = await buildPair(options, arch, signal);
    built.push(agents, cli);
  }
  if (options.single === false) return built;
  const version = await versionOf(options.root, signal);
  for (const agent of await agentNames(options, signal)) {
    const program = {
      entry: 'agents/main.ts',
      constants: { __SNO_AGENTS_VERSION__: version },
      agent,
      warmUp: [['plan']],
      v8Flags: AGENT_V8_FLAGS,
    };
    for (const arch of ARCHITECTURES) {
      const output = join(options.dist, `linux-${arch}`, 'single', agent);
      built.push(await build(program, { ...options, arch, output }, signal));
    }
  }
  return built;
}

async function buildPair(
  options: BuildOptions,
  arch: Architecture,
  signal: AbortSignal,
): Promise<ExecutablePair> {
  const isHost = arch === hostArchitecture();
  const bin = isHost ? binOf(options) : join(options.dist, `linux-${arch}`, 'bin');
  const version = await versionOf(options.root, signal);
  const agents = await build(
    {
      entry: 'agents/main.ts',
      constants: { __SNO_AGENTS_VERSION__: version },
      warmUp: [['bootkube', 'plan']],
      mark: executableMark(version),
      v8Flags: AGENT_V8_FLAGS,
    },
    { ...options, arch, output: join(bin, AGENTS) },
    signal,
  );
  for (const name of await agentNames(options, signal)) {
    const link = join(bin, name);
    await unlink(link).catch(() => undefined);
    await symlink(AGENTS, link);
  }
  const cli = await build(
    {
      entry: 'cli/main.ts',
      constants: { __SNO_AGENTS_VERSION__: version, __SNO_AGENTS_SHA256__: agents.sha256 },
      warmUp: [['--version'], ['create', 'single-node-ignition-config', '--help']],
      v8Flags: [],
    },
    { ...options, arch, output: join(bin, CLI) },
    signal,
  );
  return { agents, cli };
}

async function build(
  { entry, constants, agent, warmUp, mark, v8Flags }: Program,
  { root, dist, arch, output }: BuildOptions & { arch: Architecture; output: string },
  signal: AbortSignal,
): Promise<BuiltExecutable> {
  const settings = { entry, constants, agent, warmUp, arch, mark, v8Flags };
  const stamp = join(dist, 'build', `${agent ?? entry.replaceAll('/', '-')}-${arch}.stamp`);
  const known = await builtDigest(output, stamp, settings);
  if (known !== undefined) return { path: output, sha256: known, isNew: false };

  // Loaded on demand: an up-to-date check must cost the lab almost nothing.
  const { bundleWithInputs } = await import('./bundle.ts');
  const { makeExecutable } = await import('./executable.ts');
  const { componentsOf, licenseTexts } = await import('./components.ts');
  const { code, sources, bytesByInput } = await bundleWithInputs({
    entry: join(root, entry),
    constants,
    root,
    agent,
  });
  const inputs = await inputsDigest(sources, settings);
  await rm(stamp, { force: true });
  const workDir = join(dist, 'build');
  const program = mark === undefined ? code : Buffer.concat([Buffer.from(mark), code]);
  const components = await componentsOf(bytesByInput);
  const licenses = licenseTexts(components);
  const options = { code: program, licenses, arch, output, workDir, warmUp, v8Flags };
  const sha256 = await makeExecutable(options, signal);
  await mkdir(dirname(stamp), { recursive: true });
  const made: Stamp = { inputs, sources, sha256 };
  await writeFile(stamp, JSON.stringify(made));
  return { path: output, sha256, isNew: true };
}

/**
 * The version of the tag, `v1.2.3`, for a clean checkout; otherwise that of package.json, with
 * the commit if there is one: `0.1.0+1a2b3c4d5e6f-dirty`.
 */
export async function versionOf(root: string, signal: AbortSignal): Promise<string> {
  const text = await readFile(join(root, 'package.json'), 'utf8');
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(text));
  const args = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'];
  const git = await execa('git', args, {
    cwd: root,
    reject: false,
    timeout: COMMAND_DEADLINE_MS,
    cancelSignal: signal,
  });
  const tag = await execa('git', ['describe', '--exact-match', '--match=v[0-9]*', '--dirty'], {
    cwd: root,
    reject: false,
    timeout: COMMAND_DEADLINE_MS,
    cancelSignal: signal,
  });
  if (!tag.failed && !tag.stdout.endsWith('-dirty')) return tag.stdout.slice(1);
  return git.failed ? version : `${version}+${git.stdout}`;
}

const binOf = ({ dist }: BuildOptions) => join(dist, 'bin');

/** The output of `sno-agents names` on this host: the executable is selected by the name it is called by. */
async function agentNames(options: BuildOptions, signal: AbortSignal): Promise<string[]> {
  const { stdout } = await execa(join(binOf(options), AGENTS), ['names'], {
    timeout: COMMAND_DEADLINE_MS,
    cancelSignal: signal,
  });
  return stdout.split('\n').filter((line) => line !== '');
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { all: { type: 'boolean', default: false } } });
  const root = join(import.meta.dirname, '..');
  const options = { root, dist: join(root, 'dist') };
  const built = values.all
    ? await buildAll(options, AbortSignal.timeout(BUILD_ALL_DEADLINE_MS))
    : Object.values(await buildExecutables(options, AbortSignal.timeout(BUILD_DEADLINE_MS)));
  for (const { path, sha256, isNew } of built) {
    process.stdout.write(`${isNew ? 'built' : 'up to date'}  ${path}  sha256:${sha256}\n`);
  }
}

if (import.meta.main) await main();
