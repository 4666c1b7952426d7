/**
 * `npm run build [-- --all]`: makes dist/bin/sno-agents with a link for each agent, then
 * dist/bin/sno, which knows the digest of the executable that it puts on hosts. `--all` makes
 * the same for linux-arm64 in dist/linux-arm64/bin, and an executable of each single agent in
 * dist/linux-<processor>/single. The same commit gives the same bytes in every folder.
 */
import { mkdir, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { z } from 'zod';
import { executableMark } from '../lib/agents/executable-mark.ts';
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
  /** Receives `bin/`; what the build keeps for the next run goes beside it. */
  dist: string;
  /** With `buildAll`: also an executable of each agent alone. Default true. */
  single?: boolean;
}

export interface BuiltExecutable {
  path: string;
  sha256: string;
  /** False if the executable was already there, made of the same inputs. */
  isNew: boolean;
}

export interface ExecutablePair {
  agents: BuiltExecutable;
  cli: BuiltExecutable;
}

interface Program {
  /** The TypeScript that it begins with, from the root of the checkout. */
  entry: string;
  constants: Record<string, string>;
  /** The one agent that it holds; all, if undefined. */
  agent?: string;
  /** Arguments that act on nothing and make it use what every start uses. */
  warmUp: readonly (readonly string[])[];
  /** A comment that the program begins with. */
  mark?: string;
}

/** Builds both executables for this processor; what is up to date is left alone. */
export function buildExecutables(
  options: BuildOptions,
  signal: AbortSignal,
): Promise<ExecutablePair> {
  return buildPair(options, hostArchitecture(), signal);
}

/** Both executables for every processor, and each agent alone. */
export async function buildAll(
  options: BuildOptions,
  signal: AbortSignal,
): Promise<BuiltExecutable[]> {
  const host = hostArchitecture();
  const built: BuiltExecutable[] = [];
  // The host's own come first: they are asked which agents there are.
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
    },
    { ...options, arch, output: join(bin, CLI) },
    signal,
  );
  return { agents, cli };
}

async function build(
  { entry, constants, agent, warmUp, mark }: Program,
  { root, dist, arch, output }: BuildOptions & { arch: Architecture; output: string },
  signal: AbortSignal,
): Promise<BuiltExecutable> {
  const settings = { entry, constants, agent, warmUp, arch, mark };
  const stamp = join(dist, 'build', `${agent ?? entry.replaceAll('/', '-')}-${arch}.stamp`);
  const known = await builtDigest(output, stamp, settings);
  if (known !== undefined) return { path: output, sha256: known, isNew: false };

  // Loaded only here: what is up to date shall cost the lab next to nothing.
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
  const options = { code: program, licenses, arch, output, workDir, warmUp };
  const sha256 = await makeExecutable(options, signal);
  await mkdir(dirname(stamp), { recursive: true });
  const made: Stamp = { inputs, sources, sha256 };
  await writeFile(stamp, JSON.stringify(made));
  return { path: output, sha256, isNew: true };
}

/**
 * The version of the tag, `v1.2.3`, of a clean checkout; else that of package.json, with the commit
 * where there is one: `0.1.0+1a2b3c4d5e6f-dirty`.
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

/** What the host's `sno-agents names` prints: the executable acts by the name it is called by. */
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
