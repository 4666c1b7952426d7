import { join } from 'node:path';
import type { HostPaths } from '../../host/paths.ts';

/**
 * What the agents record of themselves, below their state: requests under way, how the last one ended, and what they know
 * from one run to the next. The agents find their files by this list, and a log bundle has all of them, as
 * `agents/NAME.json`. Nothing in them is secret.
 */
const RECORDS = {
  'gone-keys': 'gone-keys.json',
  'backup-push': 'sno-backup-push/state.json',
  deployment: 'sno-payload/deployment.json',
  'lost-host': 'lost-host/request.json',
  renewals: 'sno-renew/attempts.json',
  rotation: 'sno-rotate/last.json',
  'rotation-request': 'sno-rotate/request.json',
  identity: 'sno-identity/last.json',
  'identity-request': 'sno-identity/request.json',
  address: 'sno-address/state.json',
  trial: 'sno-trial/last.json',
  'trial-under-way': 'sno-trial/trial.json',
  reconfigure: 'reconfigure/result.json',
  'reconfigure-request': 'reconfigure/request.json',
  'reconfigure-volumes': 'reconfigure/used.json',
  report: 'sno-report/state.json',
  update: 'sno-update/result.json',
  'update-request': 'sno-update/request.json',
  'update-wanted': 'sno-update/wanted.json',
  'update-asked': 'sno-update/answered.json',
  restore: 'sno-backup-restore/result.json',
  'worker-trust': 'sno-worker-trust/kubelet.json',
  'restore-request': 'sno-backup-restore/request.json',
} as const;

export type AgentRecord = keyof typeof RECORDS;

/** The path on this machine. */
export const recordPath = ({ state }: Pick<HostPaths, 'state'>, name: AgentRecord): string =>
  join(state, RECORDS[name]);

/** All of them: the name in a log bundle, and the path on this machine. */
export const agentRecords = ({ state }: Pick<HostPaths, 'state'>) =>
  Object.entries(RECORDS).map(([name, path]) => ({ name, path: join(state, path) }));
