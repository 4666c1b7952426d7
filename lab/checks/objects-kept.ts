import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { ClusterCheck, InstalledCluster } from './check.ts';
import { kubectl } from './kubectl.ts';
import { USER_CONFIG_MAP, USER_DEFINITION, USER_NAMESPACE } from './user-manifests.ts';

const inNamespace = ['-n', USER_NAMESPACE];

/** The same objects, not just the same names: what was restored is what was in the snapshot. */
export const objectsKept: ClusterCheck = {
  name: 'the objects of the live stage are there, by uid and contents',
  run: async (cluster, signal) => {
    await compare(cluster, 'namespaces', USER_NAMESPACE, [], signal);
    await compare(cluster, 'configmaps', USER_CONFIG_MAP, inNamespace, signal);
    await compare(cluster, 'customresourcedefinitions', USER_DEFINITION, [], signal);
    const path = 'jsonpath={.spec.drawers}';
    const drawers = await kubectl(
      cluster,
      ['get', 'till', 'front', ...inNamespace, '-o', path],
      signal,
    );
    if (drawers !== '2') {
      throw new Failure('fatal', 'the custom resource changed', { expected: '2', found: drawers });
    }
  },
};

async function compare(
  cluster: InstalledCluster,
  resource: string,
  name: string,
  where: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const before = cluster.liveObjects[resource]?.find(({ metadata }) => metadata.name === name);
  if (before === undefined)
    throw new Failure('fatal', `${resource} ${name} did not exist in the live stage`);
  const text = await kubectl(cluster, ['get', resource, name, ...where, '-o', 'json'], signal);
  const after = JSON.parse(text);
  const identity = ({ metadata, data, spec }: typeof before) => ({ uid: metadata.uid, data, spec });
  if (
    isDeepStrictEqual(identity(before), identity({ data: undefined, spec: undefined, ...after }))
  ) {
    return;
  }
  throw new Failure('fatal', `${resource} ${name} is not the object of the live stage`, {
    expected: JSON.stringify(identity(before)),
    found: JSON.stringify(identity(after)),
  });
}
