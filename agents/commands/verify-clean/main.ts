import { Command } from 'commander';
import {
  type CommandOutput,
  runCommandLine,
  standardOutput,
} from '../../../lib/base/command-line.ts';
import { EXIT, type ExitCode } from '../../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { readGoneKeys } from '../../../lib/cluster/installation/gone-keys.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { plainHost } from '../../steps/host-context.ts';
import { searchHost } from '../../steps/search-host.ts';
import { refuseKeys } from '../../steps/verify-clean.ts';
import { searchJournal } from './journal.ts';

/** Every image of a large host is read. */
const SEARCH_MS = 2 * 3_600_000;

/**
 * `verify-clean`: searches the host again for the private keys that its installation deleted: every file on its
 * disks, all layers of images and containers, and the journal. Changes nothing. Returns the exit code: 0 none is
 * there; 4 one is; 1 a part could not be searched.
 */
export async function runVerifyClean(
  paths: HostPaths,
  args: readonly string[],
  output: CommandOutput = standardOutput,
): Promise<ExitCode> {
  const { write, writeError } = output;
  let code: ExitCode = EXIT.done;
  const program = new Command('verify-clean')
    .description('search this host for the private keys that its installation deleted')
    .exitOverride()
    .action(async () => {
      const { summary, incomplete } = await search(paths);
      for (const part of incomplete) {
        writeError(`Searched only a part of ${part}: it expands to more than the limit\n`);
      }
      write(`${summary}\n`);
      if (incomplete.length > 0) code = EXIT.retryable;
    });
  return runCommandLine(program, args, () => code, output);
}

async function search(paths: HostPaths): Promise<{ summary: string; incomplete: string[] }> {
  const { cluster } = await plainHost(paths);
  const goneKeys = await readGoneKeys(paths);
  if (goneKeys === undefined) {
    throw new Failure('usage', 'this host has no list of deleted keys', {
      expected: 'a host whose installation is complete',
      fix: 'Wait for its end: "sno wait-for install-complete".',
    });
  }
  if (goneKeys.length === 0) {
    return { summary: 'Clean: its installation had no key that it deleted', incomplete: [] };
  }
  const wanted = new Set(goneKeys);
  const programs = new Map([[paths.executable, cluster.executableSha256]]);
  const signal = AbortSignal.timeout(SEARCH_MS);
  const files = await searchHost(paths, { wanted, programs, layers: 'all' }, signal);
  const journal = await searchJournal(wanted, signal);
  refuseKeys([...files.found, ...journal.found]);
  const megabytes = Math.round(files.bytes / 1e6);
  return {
    summary: `Clean: ${files.files} files, ${megabytes} MB, and the journal have ${files.keys.size} private keys, none of the ${goneKeys.length} that were deleted`,
    incomplete: [...files.incomplete, ...journal.incomplete],
  };
}
