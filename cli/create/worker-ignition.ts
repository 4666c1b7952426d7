import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { Limits } from '../../lib/base/wait/limits.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import {
  installationStatusSchema,
  STATUS_NAME,
  STATUS_NAMESPACE,
} from '../../lib/clients/kube/installation-status.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { publishedRootCaWithin } from '../../lib/clients/kube/root-ca.ts';
import { createToken, tokenSecret, tokenText } from '../../lib/clients/rights/bootstrap-token.ts';
import { grantApiTrust } from '../../lib/cluster/workers/grant-api-trust.ts';
import { routePods } from '../../lib/cluster/workers/route-pods.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { MEDIUM_LABEL } from '../../units/aio.ts';
import type { InstallSettings } from '../install-config/translate.ts';
import { readPersonsKubeconfig } from '../kubeconfig/read-kubeconfig.ts';
import type { Surroundings } from '../surroundings.ts';
import { type AioOptions, inspect } from './aio-ignition.ts';
import { kibibytes } from './embed-area.ts';
import { writeAll } from './host-sources.ts';
import {
  apiServerOf,
  configText,
  describedFor,
  ignoredForWorkers,
  tokenHours,
  WORKER_IGNITION_NAME,
} from './worker-config.ts';

export interface WorkerOptions extends AioOptions {
  /** Of an administrator of the running cluster; default: auth/kubeconfig in the folder. */
  kubeconfig?: string;
}

const REQUEST_MS = 30_000;

/**
 * `sno create worker-ignition`: creates the Ignition config of the workers of a running cluster, from
 * the install-config.yaml that it was created from, and the bootstrap token in it.
 * @throws Failure (usage), with nothing written and no token created, that names every fault of the
 *   folder and the options; KubeError
 */
export async function createWorkerIgnition(
  options: WorkerOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { dir } = options;
  const { print, wrote, notice, signal } = surroundings;
  const ignition = join(dir, WORKER_IGNITION_NAME);
  const hours = tokenHours(options.tokenHours);
  const sound = await inspect(options, [ignition], surroundings, 'run');
  const apiServer = apiServerOf(options.apiServer, sound.settings);
  const access = await readPersonsKubeconfig(
    options.kubeconfig ?? join(dir, 'auth', 'kubeconfig'),
    { signal },
  );
  using client = new KubeClient(access);
  const limits = { signal, deadlineMs: REQUEST_MS };
  const clusterId = await clusterIdOf(client, sound.settings, limits);
  // Not that of the kubeconfig, which may be a proxy's.
  const apiCa = await publishedRootCaWithin(client, limits, () => {});
  const token = createToken(hours, new Date());
  const text = configText(
    {
      cluster: describedFor(sound, clusterId),
      pullSecret: sound.settings.pullSecret,
      apiCa,
      token: tokenText(token),
      apiServer,
      ...(options.agentsUrl === undefined ? {} : { executableUrl: options.agentsUrl }),
    },
    sound.additions,
  );
  await grantApiTrust(client, limits);
  const isRouted = await routePods(client, limits);
  const secret = tokenSecret(token);
  await client.create(resources.secrets, { namespace: secret.metadata.namespace }, secret, limits);
  signal.throwIfAborted();
  await writeAll([{ path: ignition, contents: text }], sound.medium, surroundings);
  wrote(ignition, kibibytes(Buffer.byteLength(text)));
  const source = sound.payload.payloadUrl ?? `the medium with the label ${MEDIUM_LABEL}`;
  print(`Workers get the payload from ${source}, and reach the API at ${apiServer}`);
  print(`The token in it is accepted until ${token.expires.toISOString()}`);
  const missing = isRouted ? [] : [NO_ROUTES];
  for (const text of [
    ...ignoredForWorkers(sound.settings),
    ...missing,
    ...sound.payloadNotices,
    ...sound.additions.notices,
    HOW_TO_ALLOW,
  ]) {
    notice(text);
  }
}

const HOW_TO_ALLOW =
  'list each worker in /etc/sno-agents/workers.d on the control-plane host, or its requests stay pending';

const NO_ROUTES =
  'the payload of the cluster has no image flannel: pods of workers reach no pod of another node, and no cluster DNS, unless something else routes between them';

/** @throws Failure (usage) if the cluster is not installed, or is not this one */
async function clusterIdOf(
  client: KubeClient,
  { cluster }: InstallSettings,
  limits: Limits,
): Promise<string> {
  const place = { namespace: STATUS_NAMESPACE, name: STATUS_NAME };
  const found = await client.find(resources.configMaps, place, limits);
  const status = installationStatusSchema.safeParse(found?.data);
  if (status.data?.state === 'complete') return status.data.clusterId;
  throw new Failure('usage', `the cluster ${clusterDomain(cluster)} is not installed`, {
    expected: `state complete in the ConfigMap ${STATUS_NAMESPACE}/${STATUS_NAME}`,
    found: status.data?.state ?? 'no such state',
    fix: 'Wait for it with "sno wait-for install-complete".',
  });
}
