import { join } from 'node:path';
import { dropInPath } from '../../../lib/change/identity/held.ts';
import { identityStateFolder } from '../../../lib/change/identity/request.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { reloadUnits } from '../../../lib/host/systemd.ts';
import { kubeletPaths, standaloneConfigFile } from '../../../lib/render/kubernetes/kubelet.ts';
import { components } from '../../../lib/render/kubernetes/static-pod.ts';
import { podsIn } from '../../steps/control-plane-pods.ts';
import { areStopped } from '../../steps/static-pods.ts';
import { stopControlPlane } from '../../steps/stop-control-plane.ts';
import { type IdentityContext, inputOf } from './context.ts';

/** The manifests of the control plane while it is held back. */
export const heldManifests = (paths: Pick<HostPaths, 'state'>) =>
  join(identityStateFolder(paths), 'manifests');

const DROP_IN = `# Until sno-identity has ended, which deletes this file.
[Service]
ExecStart=
ExecStart=/var/lib/sno-agents/bin/kubelet --config=${kubeletPaths.liveConfig}
`;

/**
 * Stops the control plane, and keeps the kubelet from the API server at its next start, also after a power
 * cut: with the new name it would register a Node of its own.
 */
export const hold: StepBody<IdentityContext> = {
  name: 'hold',
  leaves: 'no running control plane; a kubelet that starts without the API server',
  touches: ['disk', 'runtime', 'systemd'],
  retries: true,
  neededUntil: 'files',
  input: ({ request }) => request.id,
  async holds({ paths }, { signal }) {
    return (
      (await podsIn(paths.staticPods)).length === 0 &&
      (await readTextIfPresent(dropInPath(paths))) === DROP_IN &&
      (await areStopped(paths, components, signal))
    );
  },
  async run(context, progress) {
    const { paths, request } = context;
    const { path, contents, mode } = standaloneConfigFile(await inputOf(context, request.to));
    await writeFileAtomic(paths.at(path), contents, mode);
    await writeFileAtomic(dropInPath(paths), DROP_IN, 0o644);
    await reloadUnits(progress.signal);
    await stopControlPlane(paths, heldManifests(paths), progress);
    return done();
  },
};

/** Lets the kubelet join the API at its next start. */
export async function release(paths: HostPaths, signal: AbortSignal): Promise<void> {
  await removeFile(dropInPath(paths));
  await removeFile(paths.at(kubeletPaths.liveConfig));
  await reloadUnits(signal);
}
