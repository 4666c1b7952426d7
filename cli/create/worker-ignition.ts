import { join } from 'node:path';
import { clusterDomain } from '../../lib/cluster/cluster.ts';
import { Failure } from '../../lib/errors/failure.ts';
import { invalidConfig, serializeConfig } from '../../lib/ignition/config.ts';
import { validateConfigText } from '../../lib/ignition/validate.ts';
import { KubeClient } from '../../lib/kube/client.ts';
import {
  installationStatusSchema,
  STATUS_NAME,
  STATUS_NAMESPACE,
} from '../../lib/kube/installation-status.ts';
import { readKubeconfig } from '../../lib/kube/kubeconfig.ts';
import { resources } from '../../lib/kube/resources.ts';
import type { Limits } from '../../lib/wait/limits.ts';
import { createToken, TOKEN_HOURS, tokenSecret, tokenText } from '../../lib/workers/token.ts';
import { MEDIUM_LABEL } from '../../units/aio.ts';
import type { InstallSettings } from '../install-config/translate.ts';
import type { Surroundings } from '../surroundings.ts';
import { type AioOptions, inspect, type Sound, writeAll } from './aio-ignition.ts';
import { kibibytes } from './embed-area.ts';
import { aioNotices } from './site-notices.ts';
import { type WorkerIgnitionInput, workerIgnitionConfig } from './worker-ignition-config.ts';

/** In the folder with install-config.yaml. */
export const WORKER_IGNITION_NAME = 'worker.ign';

export interface WorkerOptions extends AioOptions {
  /** Of an administrator of the running cluster; default: auth/kubeconfig in the folder. */
  kubeconfig?: string;
  /** Host, or host:port, of the API server as workers reach it. */
  apiServer?: string;
  /** How long the token in the Ignition config is accepted. */
  tokenHours?: string;
}

const REQUEST_MS = 30_000;
const API_PORT = 6443;
const API_SERVER = /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:([1-9]\d{0,4}))?$/;

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
  const { print, signal } = surroundings;
  const ignition = join(dir, WORKER_IGNITION_NAME);
  const hours = tokenHours(options.tokenHours);
  const sound = await inspect(options, [ignition], surroundings);
  const apiServer = apiServerOf(options.apiServer, sound.settings);
  const access = await readKubeconfig(options.kubeconfig ?? join(dir, 'auth', 'kubeconfig'));
  using client = new KubeClient(access);
  const limits = { signal, deadlineMs: REQUEST_MS };
  const clusterId = await clusterIdOf(client, sound.settings, limits);
  const token = createToken(hours, new Date());
  const text = configText({
    cluster: describedFor(sound, clusterId),
    pullSecret: sound.settings.pullSecret,
    apiCa: access.ca,
    token: tokenText(token),
    apiServer,
    ...(options.agentsUrl === undefined ? {} : { executableUrl: options.agentsUrl }),
  });
  const secret = tokenSecret(token);
  await client.create(resources.secrets, { namespace: secret.metadata.namespace }, secret, limits);
  signal.throwIfAborted();
  await writeAll([{ path: ignition, contents: text }], sound.medium, surroundings);
  print(`Wrote ${ignition} (${kibibytes(Buffer.byteLength(text))})`);
  const source = sound.payload.payloadUrl ?? `the medium with the label ${MEDIUM_LABEL}`;
  print(`Workers get the payload from ${source}, and reach the API at ${apiServer}`);
  print(`The token in it is accepted until ${token.expires.toISOString()}`);
  for (const notice of [...ignoredForWorkers(sound.settings), HOW_TO_ALLOW]) {
    print(`Notice: ${notice}`);
  }
}

const HOW_TO_ALLOW =
  'list each worker in /etc/sno-agents/workers.d on the control-plane host, or its requests stay pending';

/** Created before the token: a config that is not valid must not leave one behind. */
function configText(input: WorkerIgnitionInput): string {
  const text = serializeConfig(workerIgnitionConfig(input));
  const faults = validateConfigText(text);
  if (faults.length > 0) throw invalidConfig('this program', faults);
  return text;
}

/** The description of the cluster without what describes its control-plane host. */
function describedFor(
  { settings, payload, executableSha256 }: Sound,
  clusterId: string,
): WorkerIgnitionInput['cluster'] {
  const {
    installation: _disk,
    hostname: _name,
    networkConfig: _network,
    reservedCpus: _cpus,
    ...described
  } = settings.cluster;
  return { ...described, ...payload, clusterId, executableSha256 };
}

function tokenHours(text: string | undefined): number {
  if (text === undefined) return TOKEN_HOURS.default;
  const hours = Number(text);
  if (/^\d+$/.test(text) && hours >= 1 && hours <= TOKEN_HOURS.maximum) return hours;
  throw new Failure('usage', '--token-hours cannot be used; nothing was written', {
    expected: `a whole number from 1 to ${TOKEN_HOURS.maximum}`,
    found: text,
  });
}

/** With its port. */
function apiServerOf(given: string | undefined, { cluster }: InstallSettings): string {
  if (given === undefined) return `api-int.${clusterDomain(cluster)}:${API_PORT}`;
  const [, , , port] = API_SERVER.exec(given) ?? [];
  if (API_SERVER.test(given)) return port === undefined ? `${given}:${API_PORT}` : given;
  throw new Failure('usage', '--api-server cannot be used; nothing was written', {
    expected: 'a host name in lower case or an address, with or without a port',
    found: JSON.stringify(given),
  });
}

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

/** What describes the control-plane host alone, and what may not be intended. */
function ignoredForWorkers(settings: InstallSettings): string[] {
  const { hostname, networkConfig, reservedCpus } = settings.cluster;
  const ignored = Object.entries({ hostname, networkConfig, reservedCPUs: reservedCpus }).flatMap(
    ([name, value]) => (value === undefined ? [] : [`bootstrapInPlace.${name}`]),
  );
  return [
    ...(ignored.length === 0
      ? []
      : [
          `for workers ignored: ${ignored.join(', ')}. They get names and addresses by DHCP or DNS`,
        ]),
    ...aioNotices(settings).filter((notice) => /^(only warnings|the certificate)/.test(notice)),
  ];
}
