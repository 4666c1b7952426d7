import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** A group of tests that need the same things and may take the same time. */
export interface Tier {
  name: 'unit' | 'integration' | 'e2e';
  /** Longest time for one process. */
  deadlineSeconds: number;
  /** Files of a folder run one after another in one process; otherwise each has its own. */
  filesShareProcess: boolean;
  /** Longest time for all of them, for the case that tap itself hangs. */
  deadlineMinutes: number;
  /** Test files that run at the same time. */
  jobs: number;
  /** Programs without which the tier is skipped, and named. */
  programs: readonly string[];
  needsRoot: boolean;
}

/** The deadlines of the last two include what is built once on a fresh machine. */
export const TIERS: readonly Tier[] = [
  {
    name: 'unit',
    // For a file that hangs: a busy machine may take twenty times what an idle one does.
    deadlineSeconds: 900,
    filesShareProcess: true,
    deadlineMinutes: 30,
    jobs: 2,
    programs: [],
    needsRoot: false,
  },
  {
    name: 'integration',
    deadlineSeconds: 40 * 60,
    filesShareProcess: false,
    deadlineMinutes: 60,
    jobs: 1,
    programs: ['go'],
    needsRoot: false,
  },
  {
    name: 'e2e',
    deadlineSeconds: 60 * 60,
    filesShareProcess: false,
    deadlineMinutes: 120,
    jobs: 1,
    programs: ['apt-get', 'go', 'cargo'],
    needsRoot: true,
  },
];

/** What this machine lacks to run the tier, in words. */
export async function missingFor({ programs, needsRoot }: Tier): Promise<string[]> {
  const missing: string[] = [];
  if (process.platform !== 'linux') missing.push('Linux');
  if (needsRoot && process.getuid?.() !== 0) missing.push('root');
  for (const program of programs) if (!(await isInPath(program))) missing.push(program);
  return missing;
}

async function isInPath(program: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const found = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}
