import type { OpenShiftRelease } from '../../config/cluster/cluster.ts';
import type { HostPaths } from '../../host/paths.ts';
import type { HostFacts, Renderer } from '../renderer.ts';
import { agentIdentities } from './agent-identities.ts';
import { readRelease } from './images.ts';
import { installedNodeFiles } from './installed-node.ts';
import { liveNodeFiles } from './live-node.ts';
import type { Podman } from './podman.ts';
import { readTree } from './read-tree.ts';
import { runStages } from './run-stages.ts';

export interface OpenShiftInput {
  readonly release: OpenShiftRelease;
  /** Below them, what openshift-install wrote. */
  readonly paths: HostPaths;
  readonly host: Pick<HostFacts, 'rootIsOverlay'>;
}

/**
 * The control plane of an OpenShift release: its operators' own `render` programs, from what
 * openshift-install wrote. The images must be in podman's storage.
 */
export const openShiftRenderer = (podman: Podman): Renderer<OpenShiftInput> => ({
  async render({ release: named, paths, host }, effects) {
    effects.report(`the release image ${named.releaseImage}`);
    const release = await readRelease(podman, named, effects);
    const rendered = await readTree(await runStages({ ...effects, podman, release, paths }));
    const installed = await installedNodeFiles(paths, rendered.staticPods);
    return {
      ...rendered,
      files: [...rendered.files, ...liveNodeFiles(release, host), ...installed],
      manifests: [...rendered.manifests, ...agentIdentities()],
    };
  },
});
