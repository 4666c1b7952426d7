/**
 * `npm run build [-- --reproducible]`: makes dist/bin/sno-agents with a link for each agent,
 * then dist/bin/sno, which knows the digest of the executable that it puts on hosts.
 */
import { readFile, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { z } from 'zod';
import { bundle } from './bundle.ts';
import { type BuiltExecutable, makeExecutable } from './executable.ts';

const BUILD_DEADLINE_MS = 10 * 60_000;
const COMMAND_DEADLINE_MS = 10_000;
const AGENTS = 'sno-agents';
const CLI = 'sno';

export interface BuildOptions {
  /** The checkout. */
  root: string;
  /** Receives `bin/`; what the build keeps for the next run goes beside it. */
  dist: string;
  /** Gives up the code cache for output that is the same bytes each time in the same folder. */
  isReproducible: boolean;
}

/** Builds both executables; what is up to date is left alone. The agents come first in the result. */
export async function buildExecutables(
  { root, dist, isReproducible }: BuildOptions,
  signal: AbortSignal,
): Promise<BuiltExecutable[]> {
  const version = await versionOf(root, signal);
  const make = async (name: string, entry: string, constants: Record<string, string>) => {
    const code = await bundle({ entry: join(root, entry), constants });
    const output = join(dist, 'bin', name);
    const workDir = join(dist, 'build');
    return makeExecutable({ code, output, workDir, codeCache: !isReproducible }, signal);
  };

  const agents = await make(AGENTS, 'agents/main.ts', { __SNO_AGENTS_VERSION__: version });
  await linkAgents(join(dist, 'bin'), agents.path, signal);
  const cli = await make(CLI, 'cli/main.ts', {
    __SNO_AGENTS_VERSION__: version,
    __SNO_AGENTS_SHA256__: agents.sha256,
  });
  return [agents, cli];
}

/** The version of package.json, with the commit where there is one: `0.1.0+1a2b3c4d5e6f-dirty`. */
async function versionOf(root: string, signal: AbortSignal): Promise<string> {
  const text = await readFile(join(root, 'package.json'), 'utf8');
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(text));
  const args = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'];
  const git = await execa('git', args, {
    cwd: root,
    reject: false,
    timeout: COMMAND_DEADLINE_MS,
    cancelSignal: signal,
  });
  return git.failed ? version : `${version}+${git.stdout}`;
}

/** A link for each name that `sno-agents names` prints: the executable acts by the name it is called by. */
async function linkAgents(bin: string, executable: string, signal: AbortSignal): Promise<void> {
  const { stdout } = await execa(executable, ['names'], {
    timeout: COMMAND_DEADLINE_MS,
    cancelSignal: signal,
  });
  for (const name of stdout.split('\n').filter((line) => line !== '')) {
    const link = join(bin, name);
    await unlink(link).catch(() => undefined);
    await symlink(AGENTS, link);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { reproducible: { type: 'boolean', default: false } } });
  const root = join(import.meta.dirname, '..');
  const options = { root, dist: join(root, 'dist'), isReproducible: values.reproducible };
  const built = await buildExecutables(options, AbortSignal.timeout(BUILD_DEADLINE_MS));
  for (const { path, sha256, isNew } of built) {
    process.stdout.write(`${isNew ? 'built' : 'up to date'}  ${path}  sha256:${sha256}\n`);
  }
}

if (import.meta.main) await main();
