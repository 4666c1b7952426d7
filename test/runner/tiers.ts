import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Tests with the same requirements and time limits. */
export interface Tier {
  name: 'unit' | 'integration' | 'e2e';
  /** Time limit per process. */
  deadlineSeconds: number;
  /** Files of a folder run one after another in one process; otherwise each has its own. */
  filesShareProcess: boolean;
  /** What its tests write is small, and need not survive. */
  writesToMemory: boolean;
  /** Time limit for the whole tier, in case tap itself hangs. */
  deadlineMinutes: number;
  /** Number of concurrent test files. */
  jobs: number;
  /** Required programs; if one is missing, the tier is skipped and the program named. */
  programs: readonly string[];
  needsRoot: boolean;
  /** Whether its tests start programs of the lab's Debian packages. */
  needsLabPackages: boolean;
}

/** The deadlines of the last two include one-time builds on a fresh machine. */
export const TIERS: readonly Tier[] = [
  {
    name: 'unit',
    // For a process that hangs: that of the agents takes five minutes on an idle machine, and a busy one several times as long.
    deadlineSeconds: 25 * 60,
    filesShareProcess: true,
    writesToMemory: true,
    deadlineMinutes: 30,
    jobs: 2,
    programs: [],
    needsRoot: false,
    needsLabPackages: false,
  },
  {
    name: 'integration',
    deadlineSeconds: 40 * 60,
    filesShareProcess: false,
    writesToMemory: false,
    deadlineMinutes: 60,
    jobs: 1,
    programs: ['go'],
    needsRoot: false,
    needsLabPackages: true,
  },
  {
    name: 'e2e',
    deadlineSeconds: 60 * 60,
    filesShareProcess: false,
    writesToMemory: false,
    deadlineMinutes: 120,
    jobs: 1,
    programs: ['apt-get', 'go', 'cargo'],
    needsRoot: true,
    // The lab installs them itself.
    needsLabPackages: false,
  },
];

/** What is missing on this machine to run the tier, in words. */
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
