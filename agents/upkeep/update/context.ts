import { Failure } from '../../../lib/base/errors/failure.ts';
import { listBackups } from '../../../lib/change/backup/store.ts';
import { type UpdateRequest, updateChange } from '../../../lib/change/update/request.ts';
import { whyNotReady } from '../../../lib/clients/kube/api-ready.ts';
import { kubeletRequires, workerKubeletRequires } from '../../../lib/engine/agents/table.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import {
  type HostContext,
  type PlainHost,
  plainHost,
  signedRights,
} from '../../steps/host-context.ts';
import { asNode } from '../../steps/own-node.ts';
import { backupToReturnTo } from './database.ts';

/** A host, with a control plane or without, and what it is updated to. */
export interface UpdatedHost extends PlainHost {
  readonly request: UpdateRequest;
  /** The units that the kubelet requires, with `.service`, in the order in which they start. */
  readonly kubeletRequires: readonly string[];
  /** Why the API server does not answer this host as it should; undefined if it does. */
  whyApiNotReady(progress: Progress): Promise<string | undefined>;
  /** The backup that a way back restores; undefined if it leaves the database as it is. */
  backupToReturnTo(): Promise<string | undefined>;
}

/** A host with a control plane, and the backups from before the update. */
export interface UpdateContext extends HostContext, UpdatedHost {
  readonly run: string;
  readonly earlier: readonly string[];
}

/** @throws Failure (usage) if no update was requested, or cluster.json is invalid. */
export async function updateContext(paths: HostPaths): Promise<UpdateContext> {
  const request = await requestOf(paths);
  const host = await plainHost(paths);
  const backups = await listBackups(paths);
  // By its date, too: one that was being made when the request was written is not among the names.
  const dated = backups.filter(({ at }) => at < request.at).map(({ name }) => name);
  const earlier = [...new Set([...dated, ...(request.backups ?? [])])];
  return updateContextOf({ ...host, ...signedRights(host) }, request, earlier);
}

/** @param earlier the backups from before the update */
export const updateContextOf = (
  host: HostContext,
  request: UpdateRequest,
  earlier: readonly string[],
): UpdateContext => ({
  ...host,
  ...{ request, run: request.id, earlier, kubeletRequires },
  whyApiNotReady: (progress) =>
    host.withAdministrator(progress, (client) => whyNotReady(client, progress.signal)),
  backupToReturnTo: () => backupToReturnTo(host.paths, request, earlier),
});

/** For a worker, which asks the API with the identity of its kubelet. @throws Failure (usage) like updateContext */
export async function workerUpdateContext(paths: HostPaths): Promise<UpdatedHost> {
  return workerContextOf(await plainHost(paths), await requestOf(paths));
}

export const workerContextOf = (host: PlainHost, request: UpdateRequest): UpdatedHost => ({
  ...host,
  ...{ request, kubeletRequires: workerKubeletRequires },
  async whyApiNotReady({ signal }) {
    using client = await asNode(host);
    return whyNotReady(client, signal);
  },
  backupToReturnTo: async () => undefined,
});

async function requestOf(paths: HostPaths): Promise<UpdateRequest> {
  const request = await updateChange.read(paths);
  if (request !== undefined) return request;
  throw new Failure('usage', 'no update was requested', {
    expected: updateChange.requestPath(paths),
    fix: 'Use "sno-update run --from FOLDER|URL".',
  });
}

/** Its name in messages. */
export const describeUpdate = ({ manifest }: UpdateRequest): string =>
  `the update to sno-agents ${manifest.executable.version} with Kubernetes ${manifest.payload.versions.kubernetes}`;
