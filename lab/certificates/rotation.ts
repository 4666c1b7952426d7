import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { authorityNames } from '../../lib/render/kubernetes/authorities.ts';
import { components } from '../../lib/render/kubernetes/static-pod.ts';
import { withSettings } from '../agent-settings.ts';
import type { RunningCluster } from '../checks/check.ts';
import { kubectl } from '../checks/kubectl.ts';
import { eventually } from '../eventually.ts';
import { containers, restartedOf } from './containers.ts';
import { requireLogs } from './logs.ts';
import { readyThroughout } from './readiness.ts';
import type { Step } from './steps.ts';

const PROGRAM = '/usr/local/bin/sno-certificates';
const ROTATION_MS = 15 * 60_000;
const READY_MS = 60_000;
/** Shorter than on a real host, where clients keep connections for minutes and tokens for an hour. */
const OVERLAP = { rotateOverlapMs: 20_000, rotateTokensMs: 20_000 };
/** Clients of all kinds are signed anew except administrators, among them the lab. */
const AUTHORITIES = authorityNames.filter((name) => name !== 'admin');
const STATIC_POD = new RegExp(`^kube-system/(${components.join('|')})-`);

const secret = ['create', 'secret', 'generic', 'kept', '--from-literal=word=readable'];

/** Replaces CAs or keys as an administrator does, with short overlaps. */
export async function rotate(
  { host }: RunningCluster,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const command = [PROGRAM, ...args];
  const { exitCode, stderr } = await withSettings(
    () => host,
    OVERLAP,
    () => host.exec(command, { timeoutMs: ROTATION_MS }, signal),
  );
  if (exitCode !== 0) {
    throw new Failure('fatal', `sno-certificates ${args.join(' ')} failed`, {
      found: stderr.slice(-1000),
    });
  }
}

/** Every authority but the administrators', then both kinds of keys, for which the API server restarts and always answers. */
export const rotatesAll: Step = async (cluster, report, signal) => {
  await kubectl(cluster, secret, signal);
  const before = await containers(cluster, signal);
  await rotate(cluster, ['rotate-ca', ...AUTHORITIES], signal);
  report(`${AUTHORITIES.length} authorities replaced`);
  // Without restarts of etcd there is nothing to wait for.
  const asked = await readyThroughout(cluster, signal, async () => {
    await rotate(cluster, ['rotate-keys', 'service-account'], signal);
    await rotate(cluster, ['rotate-keys', 'encryption'], signal);
  });
  report(`both keys replaced; ${asked} times asked, the API was always ready`);
  const ready = ['get', '--raw', '/readyz'];
  await eventually(() => kubectl(cluster, ready, signal), READY_MS, signal);
  const others = restartedOf(before, await containers(cluster, signal)).filter(
    (name) => !STATIC_POD.test(name),
  );
  if (others.length > 0) {
    throw new Failure('fatal', 'workloads were restarted', { found: others.join(', ') });
  }
  await requireLogs(cluster, signal);
  const word = ['get', 'secret', 'kept', '-o', 'jsonpath={.data.word}'];
  const found = Buffer.from(await kubectl(cluster, word, signal), 'base64').toString();
  if (found !== 'readable') {
    throw new Failure('fatal', 'a Secret is not readable any more', { found });
  }
};

/** The kubeconfig in auth/ ends with the authority of its certificate. */
export const rotatesAdministrators: Step = async (cluster, report, signal) => {
  await rotate(cluster, ['rotate-ca', 'admin'], signal);
  const refusal = await kubectl(cluster, ['get', 'nodes'], signal).then(
    () => 'nothing',
    describeError,
  );
  if (!/Unauthorized|must be logged in/i.test(refusal)) {
    throw new Failure('fatal', 'the old administrator is not refused', { found: refusal });
  }
  report('the old kubeconfig is refused');
};
