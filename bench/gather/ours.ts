/** Gathers journals and logs like a host, then exits: `ours JOURNALS LOGS ROOT TARGET`. */
import { runGatherCommand } from '../../agents/gather/run.ts';
import type { Source, SourceGroup } from '../../agents/gather/source.ts';
import { command } from '../../agents/gather/sources/command.ts';
import { folder } from '../../agents/gather/sources/file.ts';
import { hostPaths } from '../../lib/host/paths.ts';

const [journals = '', logs = '', root = '', target = ''] = process.argv.slice(2);
const bulk = {
  phase: 'bulk',
  deadlineMs: 15 * 60_000,
  limitBytes: 8 * 2 ** 30,
  keep: 'newest',
} as const satisfies Partial<Source>;

const journal: Source = {
  ...command('journals/journal.log.gz', [
    'journalctl',
    ...[`--directory=${journals}`, '--no-pager', '--no-hostname', '--output=short-iso-precise'],
  ]),
  ...bulk,
  gzipped: true,
  givesWay: 1,
};

const group = (name: string, list: SourceGroup['list']): SourceGroup => ({
  name,
  deadlineMs: 10_000,
  list,
});

runGatherCommand('gather', ['--id', 'bench', '--to', target], {
  paths: hostPaths(root),
  catalogue: [
    group('journals', async () => [journal]),
    group('containers', async () => folder('containers', logs, bulk)),
  ],
  environment: {},
  isRoot: true,
  owner: undefined,
  self: [],
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: new AbortController().signal,
}).then((code) => process.exit(code));
