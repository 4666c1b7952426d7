import { backupRestorePlan } from '../../../agents/upkeep/backup/restore/plan.ts';
import { identityPlan } from '../../../agents/upkeep/identity/plan.ts';
import { rotatePlan } from '../../../agents/upkeep/rotate/plan.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import type { AllInOne } from '../../all-in-one.ts';
import { kubectl } from '../../checks/kubectl.ts';
import { eventually } from '../../eventually.ts';
import { onHost } from '../../host/on-host.ts';
import { type PlanUnderTest, request, textOn } from './plan.ts';

const READY_MS = 3 * 60_000;
/** Shorter than on a real host, where nobody waits for them. */
const SETTLING = { settlingWindowMs: 3_000, retryMs: 500 };

const ask = (run: AllInOne, ...argv: readonly string[]) =>
  kubectl(run.cluster, argv, run.context.signal);

/** The newest complete backup is restored; what is newer than it must be gone. */
export const restore: PlanUnderTest = {
  agent: 'sno-backup-restore',
  steps: backupRestorePlan(defaultSettings).steps,
  settings: SETTLING,
  async prepare(run) {
    const { signal } = run.context;
    const name = await onHost(run.booted, ['sno-backup', 'create'], signal);
    const later = `later-${Date.now()}`;
    await ask(run, 'create', 'configmap', later);
    const restoring = ['sno-backup', 'restore', '--from', name, '--yes'];
    return {
      start: () => request(run.booted, 'sno-backup-restore', restoring, signal),
      proof: async () => {
        const gone = async () => {
          const found = await ask(run, 'get', 'configmap', later, '--ignore-not-found');
          if (found === '') return;
          throw new Failure('fatal', `${name} was not restored`, { found });
        };
        await eventually(gone, READY_MS, signal);
      },
    };
  },
};

/**
 * Of one authority; `etcd`: of the one whose certificates etcd and the API server read when they start;
 * `legacy-unknown`: of one that no client needs, which takes seconds.
 */
const rotationOf = (authority: 'etcd' | 'legacy-unknown'): PlanUnderTest => ({
  agent: 'sno-rotate',
  steps: rotatePlan(defaultSettings).steps,
  settings: { rotateOverlapMs: 2_000, renewProofMs: 90_000 },
  async prepare(run) {
    const { signal } = run.context;
    const { certificate } = authorityPaths(authority);
    const before = await textOn(run.booted, certificate);
    const rotate = ['sno-certificates', 'rotate-ca', authority];
    return {
      start: () => request(run.booted, 'sno-rotate', rotate, signal),
      proof: async () => {
        if ((await textOn(run.booted, certificate)) !== before) return;
        throw new Failure('fatal', `the CA ${authority} was not replaced`);
      },
    };
  },
});

export const rotate = rotationOf('legacy-unknown');
export const rotateEtcd = rotationOf('etcd');

/** A process with a wrong clock keeps it until its unit starts it again, after the deadline of a step. */
const DEADLINES = {
  identityCheckMs: 20_000,
  identityFilesMs: 90_000,
  servingCertificateMs: 60_000,
  nodeReadyMs: 60_000,
};

/** Another name each time. */
export const rename: PlanUnderTest = {
  agent: 'sno-identity',
  steps: identityPlan(defaultSettings).steps,
  settings: { ...SETTLING, ...DEADLINES },
  async prepare(run) {
    const { signal } = run.context;
    const name = `edge-${Date.now() % 1_000_000}`;
    const change = ['sno-identity', 'change', '--hostname', name, '--yes'];
    return {
      start: () => request(run.booted, 'sno-identity', change, signal),
      proof: async () => {
        const nodes = (await ask(run, 'get', 'nodes', '-o', 'name')).trim();
        if (nodes === `node/${name}`) return;
        throw new Failure('fatal', 'the host has another name', { expected: name, found: nodes });
      },
    };
  },
};
