import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { Discovery, type ServedKind } from '../../../lib/clients/kube/discovery.ts';
import { groupOf } from '../../../lib/clients/kube/kind-name.ts';
import { resourcePath } from '../../../lib/clients/kube/resources.ts';
import type { Answer } from '../../../lib/clients/kube/transport.ts';
import {
  builtInCollections,
  type Collection,
  openshiftCollections,
  wholeGroups,
} from '../../../lib/clients/rights/collections.ts';
import { type GatherHost, patient } from '../gather-host.ts';
import type { Source, SourceGroup } from '../source.ts';
import { type Api, apiOf } from './api.ts';
import { stream, usual } from './command.ts';
import { hasEtcd } from './etcd-access.ts';
import { file, filesBelow } from './file.ts';
import { made } from './made.ts';
import { newestEvents } from './newest-events.ts';
import { listDocument, pages } from './object-list.ts';
import { objectNames } from './object-names.ts';
import { secretAnnotations, secretNames } from './secret-names.ts';

const DISCOVERY_MS = 5000;
const OPENAPI_MS = 30_000;
/** Of an API server that is not ready; together less than the deadline of a source. */
const [AT_ONCE_MS, PAUSE_MS, AGAIN_MS] = [2000, 3000, 4000];
/** Limit per collection used by the report; larger documents are not redacted by structure. */
const DIAGNOSIS_BYTES = 8 << 20;
const BULK_BYTES = 64 << 20;

/** The collections that the report reads, by file name. The others can be large. */
const DIAGNOSIS: ReadonlySet<string> = new Set([
  ...['apiservices', 'clusteroperators', 'clusterversion', 'csr', 'daemonsets', 'deployments'],
  ...['events', 'leases', 'namespaces', 'nodes', 'pods', 'services'],
  ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
  ...['persistentvolumeclaims', 'persistentvolumes'],
]);

/** The API's objects or, if it is down, those saved while it was up. */
export const resources: SourceGroup = {
  name: 'resources',
  deadlineMs: 45_000,
  async list(host, signal) {
    const names = (await hasEtcd(host)) ? [secretNames(host)] : [];
    let api: Api;
    try {
      api = await apiOf(host, signal);
    } catch (error) {
      signal.throwIfAborted();
      const saved = await savedObjects(host, error);
      const isSaved = ({ path }: Source) => saved.some((source) => source.path === path);
      return [...names.filter((source) => !isSaved(source)), ...saved];
    }
    return [...(await apiSources(host, api, signal)), ...names];
  },
};

/** Everything from an API that answers. */
export async function apiSources(
  host: GatherHost,
  api: Api,
  signal: AbortSignal,
): Promise<Source[]> {
  return [
    origin(
      `The objects are from the API at ${api.server.origin}, queried as ${api.identity.name}.`,
    ),
    ...health(api),
    ...(await collections(host, api, signal)),
    ...objectNames(api),
    ...(api.identity.isAdministrator ? [secretAnnotations(api)] : []),
    openApi(api),
  ];
}

/** The listed collections that this API serves, and all others of OpenShift's own groups. */
async function collections(host: GatherHost, api: Api, signal: AbortSignal): Promise<Source[]> {
  const discovery = new Discovery(api.client);
  const known = [...builtInCollections, ...openshiftCollections];
  const versions = new Set([...known.map(({ apiVersion }) => apiVersion), ...wholeGroups]);
  const limits = { signal, deadlineMs: patient(host, DISCOVERY_MS) };
  const served = new Map<string, ServedKind[] | undefined>(
    await Promise.all(
      [...versions].map(async (apiVersion): Promise<[string, ServedKind[] | undefined]> => {
        const kinds = await discovery.kinds(apiVersion, limits).catch(() => undefined);
        return [apiVersion, kinds && [...kinds.values()].filter(({ isListable }) => isListable)];
      }),
    ),
  );
  signal.throwIfAborted();
  // If unknown, it is requested, so that the reason is recorded.
  const isServed = ({ apiVersion, plural }: Collection) =>
    served.get(apiVersion)?.some(({ resource }) => resource.plural === plural) ?? true;
  const others = wholeGroups.flatMap((apiVersion) =>
    (served.get(apiVersion) ?? [])
      .map(({ resource: { plural } }) => ({
        name: `${plural}.${groupOf(apiVersion)}`,
        apiVersion,
        plural,
      }))
      .filter((other) => !known.some((one) => isSame(one, other))),
  );
  return [...known.filter(isServed), ...others].map((collection) => objects(host, api, collection));
}

const isSame = (one: Collection, other: Collection) =>
  one.apiVersion === other.apiVersion && one.plural === other.plural;

function objects({ sinceMs }: GatherHost, api: Api, collection: Collection): Source {
  const isDiagnosis = DIAGNOSIS.has(collection.name);
  const limitBytes = isDiagnosis ? DIAGNOSIS_BYTES : BULK_BYTES;
  const request = { path: resourcePath(collection, {}) };
  return {
    ...usual,
    path: `resources/${collection.name}.json`,
    format: 'json',
    phase: isDiagnosis ? 'diagnosis' : 'bulk',
    deadlineMs: isDiagnosis ? 30_000 : 60_000,
    // The document closes itself at its own limit: cut by the spool it would be invalid.
    limitBytes: 2 * limitBytes,
    keep: 'oldest',
    open: (_, signal) =>
      collection.name === 'events'
        ? newestEvents(pages(api, request, signal), limitBytes, sinceMs)
        : listDocument(pages(api, request, signal), limitBytes),
  };
}

function health(api: Api): Source[] {
  const answer = (name: string, path: string) =>
    made(`resources/api/${name}.txt`, async (host, signal) => {
      const { code, body } = await lastingAnswer(host, api, path, signal);
      return code === 200 ? `${body.trimEnd()}\n` : `HTTP ${code}\n${body.trimEnd()}\n`;
    });
  return [
    answer('readyz', '/readyz?verbose'),
    answer('livez', '/livez?verbose'),
    answer('version', '/version'),
  ];
}

/** An error is asked for once more, unless it was long in coming: a busy API server misses its own check of etcd. */
async function lastingAnswer(
  host: GatherHost,
  api: Api,
  path: string,
  signal: AbortSignal,
): Promise<Answer> {
  const began = performance.now();
  const first = await api.answer(path, signal);
  const isLate = performance.now() - began > patient(host, AT_ONCE_MS);
  if (first.code < 500 || isLate) return first;
  await sleep(patient(host, PAUSE_MS), undefined, { signal });
  const within = AbortSignal.any([signal, AbortSignal.timeout(patient(host, AGAIN_MS))]);
  return api.answer(path, within).catch(() => first);
}

function openApi(api: Api): Source {
  const open: Source['open'] = (_, signal) =>
    api.bytes({ path: '/openapi/v2' }, signal, OPENAPI_MS);
  const whole = { phase: 'bulk', limitBytes: 32 << 20, keep: 'oldest', gzipped: true } as const;
  return stream('resources/openapi.json.gz', open, { ...whole, deadlineMs: OPENAPI_MS });
}

/** The files saved by the live host's own gathering before the API was stopped. */
async function savedObjects({ paths }: GatherHost, reason: unknown): Promise<Source[]> {
  const place = paths.at('/opt/openshift/gather/resources');
  const saved = (await filesBelow(place))
    .filter((name) => name !== 'origin.txt')
    .map((name) => savedFile(name, join(place, name)));
  const said = describeError(reason);
  return [
    saved.length === 0
      ? origin(`There are no API objects: ${said}.`, reason)
      : origin(`The objects were saved before the API was stopped. Now: ${said}.`, reason),
    ...saved,
  ];
}

function savedFile(name: string, place: string): Source {
  const isJson = name.endsWith('.json');
  const isGzipped = name.endsWith('.gz');
  const isDiagnosis = isJson ? DIAGNOSIS.has(name.slice(0, -'.json'.length)) : !isGzipped;
  const source = file(`resources/${name}`, place, {
    format: isJson ? 'json' : 'text',
    phase: isDiagnosis ? 'diagnosis' : 'bulk',
    keep: 'oldest',
    limitBytes: 2 * (isDiagnosis ? DIAGNOSIS_BYTES : BULK_BYTES),
  });
  return { ...source, gzipped: isGzipped };
}

/** States where the objects come from; with `failure`, the list of failures states it too. */
function origin(text: string, failure?: unknown): Source {
  return stream('resources/origin.txt', async function* () {
    yield Buffer.from(`${text}\n`);
    if (failure !== undefined) throw failure;
  });
}
