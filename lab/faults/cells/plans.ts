import type { AgentName } from '../../../lib/agents/table.ts';
import { Failure } from '../../../lib/errors/failure.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { issuedLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import { age, serialOf } from '../../certificates/age.ts';
import type { RunningCluster } from '../../checks/check.ts';
import type { Host } from '../../host/host.ts';

/** Of a year's certificate. */
const DUE_DAYS = 330;
const COMMAND_MS = 120_000;

interface Prepared {
  /** Starts its unit without waiting. */
  start(): Promise<unknown>;
  /** Throws unless it has done what it had to do. */
  proof(): Promise<void>;
}

/** A plan of an installed host, as its timer or its command begins it. */
export interface PlanUnderTest {
  readonly agent: AgentName;
  /** Short where a fault would be waited for. */
  readonly settings: Partial<Settings>;
  /** Gives it something to do. */
  prepare(cluster: RunningCluster, signal: AbortSignal): Promise<Prepared>;
}

async function onHost(host: Host, argv: readonly string[], signal: AbortSignal): Promise<string> {
  const { exitCode, stdout, stderr } = await host.exec(argv, { timeoutMs: COMMAND_MS }, signal);
  if (exitCode === 0) return stdout.trim();
  throw new Failure('fatal', `${argv.join(' ')} failed on the host`, { found: stderr.slice(-500) });
}

export const startUnit = (host: Host, agent: AgentName, signal: AbortSignal): Promise<string> =>
  onHost(host, ['systemctl', 'start', '--no-block', `${agent}.service`], signal);

/** The one that is due; also the one that a fault truncates. */
export const dueLeaf = issuedLeaves.scheduler;
const renew: PlanUnderTest = {
  agent: 'sno-renew',
  settings: { renewApiMs: 20_000 },
  async prepare({ host }, signal) {
    await age(host.rootDir, dueLeaf, DUE_DAYS);
    const old = await serialOf(host.rootDir, dueLeaf);
    return {
      start: () => startUnit(host, 'sno-renew', signal),
      proof: async () => {
        if ((await serialOf(host.rootDir, dueLeaf)) !== old) return;
        throw new Failure('fatal', `the certificate of ${dueLeaf.name} was not renewed`);
      },
    };
  },
};

const list = (host: Host, signal: AbortSignal) => onHost(host, ['sno-backup', 'list'], signal);

const backup: PlanUnderTest = {
  agent: 'sno-backup',
  settings: { backupMs: 45_000 },
  async prepare({ host }, signal) {
    const before = await list(host, signal);
    return {
      start: () => startUnit(host, 'sno-backup', signal),
      proof: async () => {
        const now = await list(host, signal);
        const fresh = now.split('\n').filter((line) => !before.includes(line));
        if (fresh.some((line) => line.includes(' complete '))) return;
        throw new Failure('fatal', 'no complete backup was made', { found: now });
      },
    };
  },
};

export const plansUnderTest = { renew, backup } as const;
