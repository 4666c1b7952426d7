import { dirname, resolve } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { printable } from '../../lib/base/printable.ts';
import { readGivenFile, requireRegularFile } from '../../lib/host/given-file.ts';
import {
  type ConfigFault,
  type IgnitionConfig,
  isReadBy,
  readConfig,
} from '../../lib/render/ignition/config.ts';
import { BASE_SPEC } from '../../lib/render/ignition/entries.ts';
import { validateGivenConfig, withoutInstall } from '../../lib/render/ignition/given-config.ts';
import { withOwnConfig } from '../../lib/render/ignition/own-config.ts';
import { effectiveConfig } from '../../lib/render/ignition/validate.ts';
import { runProgram } from '../process/program.ts';
import { reservedFaults } from './reserved-entries.ts';

/** Options of every command that creates the Ignition config of a host. */
export interface OwnConfigOptions {
  /** An Ignition config with what a person adds to the installed host. */
  ignition?: string;
  /** The same as a Butane config. */
  butane?: string;
}

/** What a person adds, found to be sound by itself. */
export interface OwnConfig {
  /** The option and the file. */
  readonly origin: string;
  readonly config: IgnitionConfig;
}

const MAX_BYTES = 4 * 2 ** 20;
const BUTANE_MS = 60_000;
const MAX_ANSWER = 2000;

/**
 * Reads what a person adds; undefined if nothing is given.
 *
 * @throws Failure (usage) that names each fault of the file, and each entry in a place of this program
 */
export async function readOwnConfig(
  { ignition, butane }: OwnConfigOptions,
  signal: AbortSignal,
): Promise<OwnConfig | undefined> {
  if (ignition !== undefined && butane !== undefined) {
    throw new Failure('usage', '--ignition and --butane exclude each other; nothing was written', {
      fix: 'Put everything into one file: a Butane config can include an Ignition config (ignition.config.merge with local or inline).',
    });
  }
  if (butane !== undefined) {
    await requireSize(butane);
    return sound(`--butane ${butane}`, await converted(butane, signal));
  }
  if (ignition === undefined) return undefined;
  const text = await readGivenFile(ignition, '--ignition', { signal, mostBytes: MAX_BYTES });
  return sound(`--ignition ${ignition}`, text);
}

/** The program opens it again: no pipe. */
async function requireSize(path: string): Promise<void> {
  const { size } = await requireRegularFile(path, '--butane');
  if (size <= MAX_BYTES) return;
  throw new Failure('usage', `--butane ${path} is too large; nothing was written`, {
    expected: `at most ${MAX_BYTES} bytes`,
    found: `${size}`,
  });
}

/** Of a config within it, which is judged here, of any version. */
const OF_CHILD = /skipping validation/;

/**
 * The Ignition config that butane makes of it, if it warns of nothing else. Local files that it includes are those
 * beside it.
 */
async function converted(path: string, signal: AbortSignal): Promise<string> {
  const args = ['--files-dir', dirname(resolve(path)), resolve(path)];
  const { ok, ending, stdout, stderr } = await runProgram('butane', args, {
    ...{ signal, deadlineMs: BUTANE_MS },
  });
  const said = stderr.trim().split('\n');
  const warnings = said.filter((line) => line.startsWith('warning') && !OF_CHILD.test(line));
  if (ok && warnings.length === 0) return stdout.toString('utf8');
  if (ending === 'program not found') {
    throw new Failure('usage', '--butane needs the program butane; nothing was written', {
      found: 'no butane on the PATH',
      fix: 'Install it (the package butane of Fedora, or a release of github.com/coreos/butane), or convert the file elsewhere and use --ignition.',
    });
  }
  throw new Failure('usage', `butane refuses ${path}; nothing was written`, {
    found: printable((ok ? warnings : said).join('; ').slice(0, MAX_ANSWER)) || ending,
  });
}

function sound(origin: string, text: string): OwnConfig {
  const faults = validateGivenConfig(text);
  const read = readConfig(text);
  if (!read.ok || faults.length > 0) throw refused(origin, faults);
  // With what the configs in it add: they are judged like it, and nothing is elsewhere.
  const { ignition: all, ...entries } = effectiveConfig(read.config).config;
  const { config: _, ...ignition } = all;
  const config = { ...entries, ignition };
  if (read.config.ignition.config?.replace?.source !== undefined) {
    faults.push({ at: 'ignition.config.replace', problem: 'would replace what installs the host' });
  }
  faults.push(...reservedFaults(config));
  if (faults.length > 0) throw refused(origin, faults);
  return { origin, config };
}

function refused(origin: string, faults: readonly ConfigFault[]): Failure {
  const lines = faults.map(({ at, problem }) => `  ${at} ${problem}`);
  return new Failure(
    'usage',
    [`${origin} cannot be used; nothing was written`, ...lines].join('\n'),
  );
}

/**
 * A config of this program with what a person adds.
 *
 * @throws Failure (usage) that names each entry that both have
 */
export function mergedWith(ours: IgnitionConfig, own: OwnConfig | undefined): IgnitionConfig {
  if (own === undefined) return ours;
  try {
    return withOwnConfig(ours, own).config;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure('usage', `${own.origin} cannot be used; nothing was written`, {
      found: describeError(error),
      fix: 'Leave out these entries, or use other names. A drop-in (UNIT.d/NAME.conf) can change a unit.',
    });
  }
}

/** What only the person can know. */
export function ownNotices(own: OwnConfig | undefined): string[] {
  if (own === undefined) return [];
  const { version } = own.config.ignition;
  return [
    ...(isReadBy(version, BASE_SPEC)
      ? []
      : [
          `${own.origin} is of Ignition's spec ${version}: the operating system of the host must read it (every system with Ignition 2.9 or newer reads ${BASE_SPEC})`,
        ]),
    ...withoutInstall(own.config).map(
      (name) =>
        `${own.origin}: ${name} is enabled, but has no [Install] section: nothing starts it by that`,
    ),
  ];
}
