import { Failure } from '../../../lib/base/errors/failure.ts';
import { applyChanged } from '../../../lib/clients/kube/apply-changed.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import type { Cluster } from '../../../lib/config/cluster/cluster.ts';
import { readCluster, writeCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { addOnManifests } from '../../../lib/render/kubernetes/addons/index.ts';
import { readRenderInput, saveRenderInput } from '../../../lib/render/render-input.ts';
import type { KeylessInput } from '../../../lib/render/renderer.ts';
import type { HostContext } from '../host-context.ts';

/**
 * Has node ports answer at every address of the host: kube-proxy opens them in the machine network, where the
 * site's address is not. It is rendered so from now on, also by updates.
 */
export const nodePorts = portsOf(true);

/** Node ports answer in the machine network again. */
export const withoutNodePorts = portsOf(false);

function portsOf(isEverywhere: boolean): StepBody<HostContext> {
  return {
    name: 'node-ports',
    leaves: isEverywhere
      ? 'node ports that answer at every address of the host'
      : 'node ports that answer in the machine network',
    touches: ['disk', 'api'],
    retries: true,
    input: () => isEverywhere,
    holds: async ({ paths }) =>
      isRelocatable((await inputOf(paths)).cluster) === isEverywhere &&
      isRelocatable(await readCluster(paths)) === isEverywhere,
    async run(context, progress) {
      const { paths } = context;
      const present = await inputOf(paths);
      const next = { ...present, cluster: withFlag(present.cluster, isEverywhere) };
      const changed = changedManifests(present, next);
      await context.withAdministrator(progress, (client) =>
        applyChanged(client, changed, {
          signal: progress.signal,
          deadlineMs: progress.remainingMs(),
        }),
      );
      const cluster = withFlag(await readCluster(paths), isEverywhere);
      await writeCluster(paths, cluster);
      // Last: what the cluster was rendered from.
      await saveRenderInput(paths, next);
      return done(`${changed.length} objects changed`);
    },
  };
}

const isRelocatable = ({ relocatable }: Pick<Cluster, 'relocatable'>) => relocatable === true;

function withFlag<T extends Pick<Cluster, 'relocatable'>>(cluster: T, isSet: boolean) {
  const { relocatable: _, ...others } = cluster;
  return isSet ? { ...others, relocatable: true as const } : others;
}

function changedManifests(before: KeylessInput, next: KeylessInput) {
  const present = addOnManifests(before);
  return addOnManifests(next)
    .filter(
      ({ name, contents }) => present.find((each) => each.name === name)?.contents !== contents,
    )
    .flatMap(({ name, contents }) => decodeManifests(name, contents).manifests);
}

async function inputOf(paths: HostPaths): Promise<KeylessInput> {
  const input = await readRenderInput(paths);
  if (input !== undefined) return input;
  throw new Failure('fatal', '/etc/sno-agents/render-input.json does not exist', {
    expected: 'what the control plane was rendered from',
    found: 'nothing: the host was installed by an earlier release',
  });
}
