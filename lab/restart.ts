import { describeError, Failure } from '../lib/base/errors/failure.ts';
import { applyObject } from './checks/apply-object.ts';
import type { RunningCluster } from './checks/check.ts';
import { kubectl } from './checks/kubectl.ts';
import { eventually } from './eventually.ts';
import { exitWithin } from './host/unit-state.ts';
import { HELLO_IMAGE } from './test-workload.ts';

const READY_MS = 3 * 60_000;
const SHUTDOWN_MS = 2 * 60_000;
/** Half of the pod's grace period, and longer than all other pods need to end. */
const WORK_SECONDS = 8;

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'ledger', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
};

/** Its work goes on for a while after SIGTERM, and needs the API until its end. */
const SCRIPT = `
echo started >> /data/ledger
finish() {
  echo terminating >> /data/ledger
  busybox sleep ${WORK_SECONDS}
  if busybox nc -w 3 "$KUBERNETES_SERVICE_HOST" 443 < /dev/null
  then echo 'ended with the API' >> /data/ledger
  else echo 'ended without the API' >> /data/ledger
  fi
  exit 0
}
trap finish TERM
busybox sleep 86400 & wait
`;

/** Not a bare pod: one that ended in a shutdown is not started again. */
const accountant = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'accountant', namespace: 'default' },
  spec: {
    replicas: 1,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { app: 'accountant' } },
    template: {
      metadata: { labels: { app: 'accountant' } },
      spec: {
        terminationGracePeriodSeconds: 2 * WORK_SECONDS,
        containers: [
          {
            name: 'accountant',
            image: HELLO_IMAGE,
            imagePullPolicy: 'Never',
            command: ['busybox', 'sh', '-c', SCRIPT],
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'ledger' } }],
      },
    },
  },
};

/** Starts a workload that takes its time to end, and restarts the host as an administrator does. */
export async function restartByHand(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  await applyObject(cluster, claim, signal);
  await applyObject(cluster, accountant, signal);
  await kubectl(cluster, ['rollout', 'status', 'deployment/accountant', '--timeout=50s'], signal);
  await rebootByHand(cluster, signal);
}

/** Until the host has gone down, ready to be booted again. */
export async function rebootByHand(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  // systemd's own order of stopping is not enough: only logind waits for the kubelet.
  await cluster.host.exec(['systemctl', 'reboot'], { timeoutMs: 10_000 }, signal);
  const exit = await exitWithin(cluster.host, SHUTDOWN_MS, signal);
  if (exit !== 'reboot') {
    throw new Failure('fatal', 'the host did not restart', { expected: 'a reboot', found: exit });
  }
}

/** After the restart: the workload ended its work while the API still answered, and has its data. */
export async function checkLedger(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  const read = ['exec', 'deployment/accountant', '--', 'busybox', 'cat', '/data/ledger'];
  const expected = 'started, terminating, ended with the API, started';
  const check = async () => {
    // An error is the answer until the API and the new pod run.
    const found = await kubectl(cluster, read, signal).then(
      (ledger) => ledger.trim().replaceAll('\n', ', '),
      describeError,
    );
    if (found === expected) return;
    throw new Failure('fatal', 'a workload lost data or work in a restart', { expected, found });
  };
  await eventually(check, READY_MS, signal);
}
