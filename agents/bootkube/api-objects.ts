import { join } from 'node:path';
import { writeFileAtomic } from '../../lib/host/files.ts';
import type { KubeClient } from '../../lib/kube/client.ts';
import { withBootstrapAdmin } from '../../lib/render/access.ts';
import { describeError } from '../../lib/steps/failure.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { LiveContext } from './context.ts';

export const objectsFolder = ({ paths }: LiveContext) => join(paths.assets, 'gather/resources');

/** What the bundle has of the API, by file name. Never Secrets. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  apiservices: '/apis/apiregistration.k8s.io/v1/apiservices',
  configmaps: '/api/v1/configmaps',
  csr: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  customresourcedefinitions: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  daemonsets: '/apis/apps/v1/daemonsets',
  deployments: '/apis/apps/v1/deployments',
  endpointslices: '/apis/discovery.k8s.io/v1/endpointslices',
  events: '/api/v1/events',
  leases: '/apis/coordination.k8s.io/v1/leases',
  namespaces: '/api/v1/namespaces',
  nodes: '/api/v1/nodes',
  pods: '/api/v1/pods',
  rolebindings: '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  roles: '/apis/rbac.authorization.k8s.io/v1/roles',
  services: '/api/v1/services',
};

/**
 * Saves what the API knows while it is up: a few steps on it is gone for good, and
 * the log bundle is packed after that. What fails is said and passed over, one
 * collection or all of them: no installation fails for the sake of its logs.
 */
export const apiObjects: StepBody<LiveContext> = {
  name: 'api-objects',
  leaves: 'the objects of the API as files for the log bundle, as far as it gives them',
  input: ({ cluster }) => cluster.clusterId,
  // With or without them: the journal says how many there are.
  holds: async () => true,
  async run(context, progress) {
    try {
      const results = await withBootstrapAdmin(
        context.cluster.controlPlane,
        context.paths,
        (client) => saveAll(client, objectsFolder(context), progress.signal),
      );
      progress.signal.throwIfAborted();
      const failures = results.filter((result) => result !== undefined);
      for (const failure of failures) progress.warn(`Not in the bundle: ${failure}`);
      return done(`${results.length - failures.length} collections`);
    } catch (error) {
      progress.signal.throwIfAborted();
      const reason = describeError(error);
      progress.warn(`The API cannot be asked for its objects: ${reason}`);
      return done(`none: ${reason}`);
    }
  },
};

function saveAll(client: KubeClient, folder: string, signal: AbortSignal) {
  return Promise.all(
    Object.entries(COLLECTIONS).map(([name, path]) =>
      saveCollection(client, path, join(folder, `${name}.json`), signal),
    ),
  );
}

/** Returns why the collection is not there; its file says so too, if it can be written. */
async function saveCollection(
  client: KubeClient,
  path: string,
  file: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const list = await client.json({ method: 'GET', path }, { signal, deadlineMs: 20_000 });
    await writeFileAtomic(file, JSON.stringify(list, null, 1), 0o600);
    return undefined;
  } catch (error) {
    const reason = describeError(error);
    await writeFileAtomic(file, JSON.stringify({ path, error: reason }), 0o600).catch(
      () => undefined,
    );
    return reason;
  }
}
