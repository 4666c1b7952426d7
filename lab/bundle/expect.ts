import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { Bundle } from './collect.ts';

/** The part of the report that the lab compares with the fault it caused. */
const reportSchema = z.object({
  findings: z.array(
    z.object({
      rule: z.string(),
      severity: z.string(),
      title: z.string(),
      follows: z.string().optional(),
    }),
  ),
});

export interface Expected {
  /** Required paths; `*` matches anything within one name. */
  readonly paths: readonly string[];
  /** Rules that must have findings; shortly after a start, possibly only warnings. */
  readonly found?: readonly string[];
  /** Rules that may also have failing findings; consequences identified by the report are always allowed. */
  readonly besides?: readonly string[];
}

/** Files that a support engineer opens first come first in the archive. */
const FIRST = ['report.html', 'report.json', 'SUMMARY.txt'];

export async function expectBundle(
  { folder, paths }: Omit<Bundle, 'seconds'>,
  { paths: wanted, found: expected = [], besides = [] }: Expected,
): Promise<void> {
  const first = paths.slice(0, FIRST.length);
  if (first.join() !== FIRST.join()) {
    throw new Failure('fatal', 'the report is not first in the bundle', {
      found: first.join(', '),
    });
  }
  const missing = wanted.filter((pattern) => !paths.some((path) => matches(pattern, path)));
  if (missing.length > 0) {
    const log = await readFile(join(folder, 'gather.log'), 'utf8').catch(() => '');
    throw new Failure('fatal', `the bundle does not contain ${missing.join(', ')}`, {
      found: log.slice(-900),
    });
  }
  const { findings } = reportSchema.parse(
    JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')),
  );
  const unseen = expected.filter(
    (name) => !findings.some(({ rule, severity }) => rule === name && severity !== 'note'),
  );
  const failing = findings.filter(({ severity }) => severity === 'failing');
  const wrong = failing.filter(
    ({ rule, follows }) => follows === undefined && ![...expected, ...besides].includes(rule),
  );
  if (unseen.length === 0 && wrong.length === 0) return;
  throw new Failure('fatal', 'the report does not match the state of this host', {
    expected: expected.join(', ') || 'nothing failing',
    found: failing.map(({ rule, title }) => `${rule}: ${title}`).join(' | ') || 'nothing failing',
  });
}

function matches(pattern: string, path: string): boolean {
  const source = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
  return new RegExp(`^${source}$`).test(path);
}
