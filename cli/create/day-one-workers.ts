import { Failure } from '../../lib/base/errors/failure.ts';
import { tokenText } from '../../lib/clients/rights/bootstrap-token.ts';
import { createFutureToken, type FutureToken } from '../../lib/cluster/workers/future-token.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import type { InstallSettings } from '../install-config/translate.ts';
import {
  apiServerOf,
  configText,
  describedFor,
  ignoredForWorkers,
  tokenHours,
  WORKER_IGNITION_NAME,
  type WorkerConfigOptions,
} from './worker-config.ts';

/** What `sno create` makes for the workers of an installation. */
export interface DayOneWorkers {
  /** For the control-plane host, which lets the API server accept it. */
  readonly token: FutureToken;
  /** Of worker.ign, which all of them share. */
  readonly text: string;
  /** How the workers reach the host. */
  readonly apiServer: string;
  readonly notices: readonly string[];
}

interface Made {
  readonly settings: InstallSettings;
  /** The installation's. */
  readonly cluster: Cluster;
  /** Certificate of the API server's authority, as PEM. */
  readonly apiCa: string;
  readonly options: WorkerConfigOptions & { readonly agentsUrl?: string };
}

/**
 * The workers of an installation; undefined if it has none.
 * @throws Failure (usage) for options that do not fit, also if there are no workers
 */
export function dayOneWorkers({
  settings,
  cluster,
  apiCa,
  options,
}: Made): DayOneWorkers | undefined {
  const { agentsUrl, apiServer: given, tokenHours: hours } = options;
  if (cluster.dayOneWorkers === undefined) {
    const unused = Object.entries({ '--api-server': given, '--token-hours': hours });
    const [name] = unused.find(([, value]) => value !== undefined) ?? [];
    if (name === undefined) return undefined;
    throw new Failure('usage', `${name} is only for workers; nothing was written`, {
      expected: 'compute.replicas above 0 in install-config.yaml',
      found: '0',
    });
  }
  const { payloadSha256, payloadUrl, executableSha256, clusterId } = cluster;
  if (payloadSha256 === undefined) {
    throw new Failure('usage', 'workers require a pinned payload; nothing was written', {
      expected: '--payload or --payload-sha256',
    });
  }
  const token = createFutureToken(tokenHours(hours));
  const apiServer = apiServerOf(given, settings);
  const payload = { payloadSha256, ...(payloadUrl === undefined ? {} : { payloadUrl }) };
  const text = configText({
    cluster: describedFor({ settings, payload, executableSha256 }, clusterId),
    pullSecret: settings.pullSecret,
    apiCa,
    token: tokenText(token),
    apiServer,
    ...(agentsUrl === undefined ? {} : { executableUrl: agentsUrl }),
  });
  return { token, text, apiServer, notices: noticesOf(settings, token) };
}

function noticesOf(settings: InstallSettings, { hours }: FutureToken): string[] {
  return [
    `the token in ${WORKER_IGNITION_NAME} is accepted for ${hours} hours from the installation of the control-plane host. Afterwards, use "sno create worker-ignition"`,
    `the control-plane node has a taint: pods without a toleration wait for a worker. List each worker in /etc/sno-agents/workers.d, or its requests stay pending`,
    ...ignoredForWorkers(settings),
  ];
}
