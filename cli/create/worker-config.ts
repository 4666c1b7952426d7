import { Failure } from '../../lib/base/errors/failure.ts';
import { TOKEN_HOURS } from '../../lib/clients/rights/bootstrap-token.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import type { InstallSettings } from '../install-config/translate.ts';
import { type Additions, withAdditions } from './additions.ts';
import { aioNotices } from './site-notices.ts';
import { soundText } from './sound-text.ts';
import { type WorkerIgnitionInput, workerIgnitionConfig } from './worker-ignition-config.ts';

/** In the folder with install-config.yaml. */
export const WORKER_IGNITION_NAME = 'worker.ign';

/** Options of every command that creates worker.ign. */
export interface WorkerConfigOptions {
  /** Host, or host:port, of the API server as workers reach it. */
  apiServer?: string;
  /** How long the token in the Ignition config is accepted. */
  tokenHours?: string;
}

const API_PORT = 6443;
const API_SERVER = /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:([1-9]\d{0,4}))?$/;

/** @throws Failure if the result is not a valid config */
export function configText(input: WorkerIgnitionInput, additions?: Additions): string {
  const ours = workerIgnitionConfig(input);
  return soundText(additions === undefined ? ours : withAdditions(ours, additions));
}

/** The description of the cluster without what describes its control-plane host. */
export function describedFor(
  {
    settings,
    payload,
    executableSha256,
  }: {
    settings: Pick<InstallSettings, 'cluster'>;
    payload: Pick<WorkerIgnitionInput['cluster'], 'payloadUrl' | 'payloadSha256'>;
    executableSha256: string;
  },
  clusterId: string,
): WorkerIgnitionInput['cluster'] {
  const {
    installation: _disk,
    inPlace: _inPlace,
    apiNames: _apiNames,
    hostname: _name,
    networkConfig: _network,
    reservedCpus: _cpus,
    dayOneWorkers: _workers,
    sealSecrets: _seal,
    onAddressChange: _onAddressChange,
    relocatable: _relocatable,
    ...described
  } = settings.cluster;
  return { ...described, ...payload, clusterId, executableSha256 };
}

/** @throws Failure (usage) */
export function tokenHours(text: string | undefined): number {
  if (text === undefined) return TOKEN_HOURS.default;
  const hours = Number(text);
  if (/^\d+$/.test(text) && hours >= 1 && hours <= TOKEN_HOURS.maximum) return hours;
  throw new Failure('usage', '--token-hours cannot be used; nothing was written', {
    expected: `a whole number from 1 to ${TOKEN_HOURS.maximum}`,
    found: text,
  });
}

/** With its port. @throws Failure (usage) */
export function apiServerOf(
  given: string | undefined,
  { cluster }: Pick<InstallSettings, 'cluster'>,
): string {
  if (given === undefined) return `api-int.${clusterDomain(cluster)}:${API_PORT}`;
  const [, , , port] = API_SERVER.exec(given) ?? [];
  if (API_SERVER.test(given)) return port === undefined ? `${given}:${API_PORT}` : given;
  throw new Failure('usage', '--api-server cannot be used; nothing was written', {
    expected: 'a host name in lower case or an address, with or without a port',
    found: JSON.stringify(given),
  });
}

/** What describes the control-plane host alone, and what may not be intended. */
export function ignoredForWorkers(settings: InstallSettings): string[] {
  const { hostname, networkConfig, reservedCpus, sealSecrets, onAddressChange } = settings.cluster;
  const fields = {
    ...{ hostname, networkConfig, reservedCPUs: reservedCpus },
    ...{ sealSecrets, onAddressChange },
  };
  const ignored = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`bootstrapInPlace.${name}`],
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
