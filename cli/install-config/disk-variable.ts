import { type ParseArgsConfig, parseArgs } from 'node:util';
import { describeError } from '../../lib/base/errors/failure.ts';
import type { Fault } from '../../lib/config/file/fault.ts';
import { diskPathProblem } from '../../lib/config/site/disk.ts';
import { splitArguments } from './arguments.ts';

/** The installer's variable for arguments of coreos-installer, including the disk. */
export const DISK_VARIABLE =
  'OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS';

/**
 * Options of `coreos-installer install` (0.27), to distinguish an option's value
 * from the disk. Options that the agents set themselves are refused below.
 */
const INSTALL_OPTIONS = {
  'append-karg': { type: 'string' },
  architecture: { type: 'string', short: 'a' },
  'config-file': { type: 'string', short: 'c' },
  console: { type: 'string' },
  'copy-network': { type: 'boolean', short: 'n' },
  'delete-karg': { type: 'string' },
  'fetch-retries': { type: 'string' },
  'ignition-file': { type: 'string', short: 'i' },
  'ignition-hash': { type: 'string' },
  'ignition-url': { type: 'string', short: 'I' },
  'image-file': { type: 'string', short: 'f' },
  'image-url': { type: 'string', short: 'u' },
  insecure: { type: 'boolean' },
  'insecure-ignition': { type: 'boolean' },
  'network-dir': { type: 'string' },
  offline: { type: 'boolean' },
  platform: { type: 'string', short: 'p' },
  'preserve-on-error': { type: 'boolean' },
  'save-partindex': { type: 'string' },
  'save-partlabel': { type: 'string' },
  'secure-ipl': { type: 'boolean' },
  stream: { type: 'string', short: 's' },
  'stream-base-url': { type: 'string' },
} as const satisfies ParseArgsConfig['options'];

/** Options that would replace the combined Ignition, or hide other options in a file. */
const OURS = new Set([
  'config-file',
  'copy-network',
  'ignition-file',
  'ignition-hash',
  'ignition-url',
  'insecure-ignition',
]);

export interface DiskArguments {
  disk?: string;
  /** The remaining arguments, in the given order. */
  rest: string[];
}

/** Splits the value of DISK_VARIABLE into the disk and other arguments. */
export function readDiskVariable(value: string | undefined): DiskArguments | { fault: Fault } {
  if (value === undefined || value.trim() === '') return { rest: [] };
  try {
    const args = splitArguments(value);
    const { tokens } = parseArgs({
      args,
      options: INSTALL_OPTIONS,
      allowPositionals: true,
      tokens: true,
    });
    const ours = tokens.find((token) => token.kind === 'option' && OURS.has(token.name));
    if (ours?.kind === 'option') {
      return variableFault(`${ours.rawName}`, 'Omit it: the agents set it.');
    }
    const positional = tokens.filter((token) => token.kind === 'positional');
    const [disk, second] = positional.map((token) => token.value);
    if (second !== undefined) {
      return variableFault(`${positional.length} disks`, 'Set exactly one.');
    }
    const problem = disk === undefined ? undefined : diskPathProblem(disk);
    if (problem !== undefined) {
      const fix = `Use ${problem.expected}, such as /dev/sda.`;
      return variableFault(JSON.stringify(disk), fix);
    }
    const taken = new Set(
      tokens.filter((token) => token.kind !== 'option').map((token) => token.index),
    );
    const rest = args.filter((_, index) => !taken.has(index));
    return disk === undefined ? { rest } : { disk, rest };
  } catch (error) {
    const [reason = ''] = describeError(error).split('. To specify');
    return variableFault(`an error (${reason})`, 'Write it as for coreos-installer install.');
  }
}

function variableFault(found: string, fix: string): { fault: Fault } {
  const expected = 'arguments of coreos-installer install with one disk below /dev';
  return { fault: { field: DISK_VARIABLE, expected, found, fix } };
}
