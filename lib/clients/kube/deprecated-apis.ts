import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from './client.ts';
import { KubeError } from './kube-error.ts';

/** A deprecated API that somebody has used since the API server started. */
export interface DeprecatedApi {
  /** Such as `ipaddresses.v1beta1.networking.k8s.io`. */
  readonly resource: string;
  /** The minor version that no longer serves it, such as 1.37; empty: none is known. */
  readonly removedIn: string;
}

const METRIC = 'apiserver_requested_deprecated_apis';
const LABEL = String.raw`(?<name>\w+)="(?<value>(?:[^"\\]|\\.)*)"`;
const SAMPLE = new RegExp(
  String.raw`^${METRIC}\{(?<labels>(?:${LABEL.replaceAll(/\?<\w+>/g, '?:')},?)*)\}\s+(?<count>\S+)`,
  'gm',
);

/** Asks the API server itself: its metric names each deprecated API that was requested. @throws KubeError */
export async function requestedDeprecatedApis(
  client: KubeClient,
  limits: Limits,
): Promise<DeprecatedApi[]> {
  const { code, body } = await client.raw('/metrics', limits);
  if (code !== 200) throw new KubeError('busy', `GET /metrics: the API server answers ${code}`);
  return deprecatedApisIn(body);
}

/** In metrics of an API server, in the text format of Prometheus. */
export const deprecatedApisIn = (metrics: string): DeprecatedApi[] =>
  Array.from(metrics.matchAll(SAMPLE)).flatMap(({ groups }) => {
    if (Number(groups?.count) === 0) return [];
    const labels = new Map(
      Array.from((groups?.labels ?? '').matchAll(new RegExp(LABEL, 'g')), (label) => [
        label.groups?.name,
        label.groups?.value ?? '',
      ]),
    );
    const place = ['resource', 'version', 'group'].flatMap((name) => labels.get(name) || []);
    return [{ resource: place.join('.'), removedIn: labels.get('removed_release') ?? '' }];
  });
