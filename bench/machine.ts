import { cpus, release, totalmem } from 'node:os';
import { execa } from 'execa';
import { repository } from '../lab/paths.ts';

/** What a reader needs to interpret the figures; nothing that identifies the machine. */
export const machine = {
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${release().split('.').slice(0, 2).join('.')} ${process.arch}`,
  node: process.versions.node,
};

const NOT_MEASURED = [':!bench/results.json', ':!*.md'];

/** The commit that is measured, with `-changed` if the tree differs in more than its documents. */
export async function commit(): Promise<string> {
  const options = { cwd: repository, reject: false, timeout: 10_000 } as const;
  const head = await execa('git', ['rev-parse', '--short=12', 'HEAD'], options);
  if (head.failed) return 'unknown';
  const changed = await execa('git', ['status', '--porcelain', '--', ...NOT_MEASURED], options);
  return changed.stdout === '' ? head.stdout : `${head.stdout}-changed`;
}
