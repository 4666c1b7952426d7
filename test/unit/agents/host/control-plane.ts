import type { Test } from 'tap';
import { z } from 'zod';
import { components } from '../../../../lib/render/kubernetes/static-pod.ts';
import type { TestHost } from './host.ts';
import { fakeRuntime } from './runtime.ts';

const ACTIVE = '/run/kubelet-is-active';
const STOPPED = '/run/stopped-';
const stopRequest = z.object({ containerId: z.string() });

const KUBELET = `case "$*" in
  "stop kubelet.service") rm -f "$ROOT${ACTIVE}" ;;
  "restart kubelet.service") rm -f "$ROOT${STOPPED}"*; touch "$ROOT${ACTIVE}" ;;
  "show kubelet.service "*) [ -e "$ROOT${ACTIVE}" ] && echo ActiveState=active || echo ActiveState=inactive ;;
  daemon-reload) ;;
  *) exit 1 ;;
esac`;

/** The paths of the manifests, by component. */
export type PodFile = (component: string) => string;

/**
 * A kubelet that runs, behind `systemctl`, and a runtime with the containers of the control plane. The kubelet keeps
 * those running that have a manifest; while it is stopped, a container runs until it is stopped.
 */
export async function fakeControlPlane(t: Test, host: TestHost, podFile: PodFile): Promise<void> {
  host.write(ACTIVE, '');
  host.programs.give('systemctl', KUBELET);
  const runs = (name: string) =>
    host.has(ACTIVE) ? host.has(podFile(name)) : !host.has(`${STOPPED}id-of-${name}`);
  await fakeRuntime(
    t,
    host,
    () => components.map((name) => ({ name, state: runs(name) ? 'running' : 'exited' })),
    {
      StopContainer: (request) => {
        if (host.has(ACTIVE)) throw new Error('the kubelet would start it again');
        host.write(`${STOPPED}${stopRequest.parse(request).containerId}`, '');
        return {};
      },
    },
  );
}
