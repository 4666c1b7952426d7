import { Failure } from '../../lib/base/errors/failure.ts';
import {
  installationStatusSchema,
  STATUS_NAME,
  STATUS_NAMESPACE,
} from '../../lib/clients/kube/installation-status.ts';

/** The watched data of a ConfigMap; undefined while it does not exist. */
type Data = Readonly<Record<string, string>> | undefined;

export interface Target {
  /** The ConfigMap whose data shows the state. */
  readonly namespace: string;
  readonly name: string;
  /** What is waited for, as a noun phrase. */
  readonly what: string;
  readonly defaultTimeout: string;
  /** `auth/kubeconfig` is exchanged once it is reached. */
  readonly exchanges: boolean;
  /** The state that the data shows, for people. */
  describe(data: Data): string;
  /** Whether the wait is over. @throws Failure (fatal) when the installation has failed. */
  isReached(data: Data): boolean;
}

const bootstrapComplete: Target = {
  namespace: 'kube-system',
  // As openshift-install has it (cmd/openshift-install/waitfor.go).
  name: 'bootstrap',
  what: 'the bootstrap to complete',
  defaultTimeout: '60m',
  exchanges: false,
  describe: (data) =>
    data === undefined
      ? 'the bootstrap is running'
      : `bootstrap status ${data.status ?? 'missing'}`,
  isReached: (data) => data?.status === 'complete',
};

const installComplete: Target = {
  namespace: STATUS_NAMESPACE,
  name: STATUS_NAME,
  what: 'the installation to complete',
  defaultTimeout: '90m',
  exchanges: true,
  describe(data) {
    if (data === undefined) return 'the bootstrap is running';
    const status = installationStatusSchema.safeParse(data);
    if (!status.success) return 'the installation status cannot be read';
    return `${status.data.state}, step ${status.data.step}`;
  },
  isReached(data) {
    const status = installationStatusSchema.safeParse(data).data;
    if (status?.state !== 'failed') return status?.state === 'complete';
    throw new Failure('fatal', `the installation failed in step ${status.step}`, {
      found: status.message,
      fix: 'Follow the journal of bootkube.service on the host; after the fix, start that unit again.',
    });
  },
};

export const targets = {
  'bootstrap-complete': bootstrapComplete,
  'install-complete': installComplete,
} as const;
export type TargetName = keyof typeof targets;
