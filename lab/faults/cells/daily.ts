import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { approvePlan } from '../../../agents/upkeep/approve/plan.ts';
import { backupPlan } from '../../../agents/upkeep/backup/plan.ts';
import { renewPlan } from '../../../agents/upkeep/renew/plan.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { issuedLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import { age, serialOf } from '../../certificates/age.ts';
import type { Host } from '../../host/host.ts';
import { onHost } from '../../host/on-host.ts';
import { type PlanUnderTest, startUnit } from './plan.ts';

/** Of a year's certificate. */
const DUE_DAYS = 330;

/** The one that is due; also the one that a fault truncates. */
export const dueLeaf = issuedLeaves.scheduler;

export const renew: PlanUnderTest = {
  agent: 'sno-renew',
  steps: renewPlan(defaultSettings).steps,
  // An API server whose etcd was gone for a while needs half a minute and more to be ready again.
  settings: { renewApiMs: 60_000 },
  async prepare(run) {
    const { signal } = run.context;
    await age(run.booted.rootDir, dueLeaf, DUE_DAYS);
    const old = await serialOf(run.booted.rootDir, dueLeaf);
    return {
      start: () => startUnit(run.booted, 'sno-renew', signal),
      proof: async () => {
        if ((await serialOf(run.booted.rootDir, dueLeaf)) !== old) return;
        throw new Failure('fatal', `the certificate of ${dueLeaf.name} was not renewed`);
      },
    };
  },
};

const list = (host: Host, signal: AbortSignal) => onHost(host, ['sno-backup', 'list'], signal);

export const backup: PlanUnderTest = {
  agent: 'sno-backup',
  steps: backupPlan(defaultSettings).steps,
  settings: { backupMs: 45_000 },
  async prepare(run) {
    const { signal } = run.context;
    const before = await list(run.booted, signal);
    return {
      start: () => startUnit(run.booted, 'sno-backup', signal),
      proof: async () => {
        const now = await list(run.booted, signal);
        const fresh = now.split('\n').filter((line) => !before.includes(line));
        if (fresh.some((line) => line.includes(' complete '))) return;
        throw new Failure('fatal', 'no complete backup was made', { found: now });
      },
    };
  },
};

const DAY_MS = 86_400_000;
const WORKER = 'etc/sno-agents/workers.d/expected.yaml';

/** The worker never comes: the plan ends when its entry has expired. */
export const approve: PlanUnderTest = {
  agent: 'sno-approve',
  steps: approvePlan(defaultSettings).steps,
  settings: {},
  async prepare(run) {
    const { signal } = run.context;
    const path = () => join(run.booted.rootDir, WORKER);
    const expect = async (days: number) => {
      const expires = new Date(Date.now() + days * DAY_MS).toISOString();
      await mkdir(dirname(path()), { recursive: true });
      await writeFile(path(), `name: w1\naddresses: [192.168.126.77]\nexpires: ${expires}\n`);
    };
    return {
      start: async () => {
        await expect(1);
        await startUnit(run.booted, 'sno-approve', signal);
      },
      // The unit has the condition that there is an entry.
      end: () => expect(-1),
      // It ends with success only if nothing is expected any more.
      proof: () => rm(path()),
    };
  },
};
