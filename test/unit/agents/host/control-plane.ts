import type { Test } from 'tap';
import { components } from '../../../../lib/render/kubernetes/static-pod.ts';
import type { TestHost } from './host.ts';
import { KUBELET_ACTIVE, STOPPED, SYSTEMCTL, stopRequest } from './kubelet-unit.ts';
import { fakeRuntime } from './runtime.ts';

/** The paths of the manifests, by component. */
export type PodFile = (component: string) => string;

/**
 * A kubelet that runs, behind `systemctl`, and a runtime with the containers of the control plane. The kubelet keeps
 * those running that have a manifest; while it is stopped, a container runs until it is stopped.
 */
export async function fakeControlPlane(t: Test, host: TestHost, podFile: PodFile): Promise<void> {
  host.write(KUBELET_ACTIVE, '');
  host.programs.give('systemctl', SYSTEMCTL);
  const runs = (name: string) =>
    host.has(KUBELET_ACTIVE) ? host.has(podFile(name)) : !host.has(`${STOPPED}id-of-${name}`);
  await fakeRuntime(
    t,
    host,
    () => components.map((name) => ({ name, state: runs(name) ? 'running' : 'exited' })),
    {
      StopContainer: (request) => {
        if (host.has(KUBELET_ACTIVE)) throw new Error('the kubelet would start it again');
        host.write(`${STOPPED}${stopRequest.parse(request).containerId}`, '');
        return {};
      },
    },
  );
}
