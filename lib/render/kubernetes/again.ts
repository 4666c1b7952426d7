import type { KeylessInput, Rendered } from '../renderer.ts';
import { addOnFiles, addOnManifests } from './addons/index.ts';
import { admissionFile } from './admission.ts';
import { auditPolicyFile } from './audit.ts';
import { authenticationFile } from './authentication.ts';
import { cniFile } from './cni.ts';
import { etcdPod } from './etcd.ts';
import { apiServerPod } from './kube-apiserver.ts';
import { controllerManagerPod } from './kube-controller-manager.ts';
import { schedulerPod } from './kube-scheduler.ts';
import { nodeKubeletFile } from './kubelet.ts';
import { podEgressFile } from './pod-egress.ts';

/**
 * What of a running control plane depends on the release and the payload and on no key: on its own host it
 * is rendered again for an update. Keys, certificates and the rights in the API stay as they are.
 */
export function renderAgain(
  input: KeylessInput,
): Pick<Rendered, 'files' | 'staticPods' | 'manifests'> {
  return {
    files: [
      admissionFile(),
      authenticationFile(),
      auditPolicyFile(),
      nodeKubeletFile(input),
      cniFile(input),
      podEgressFile(input.cluster),
      ...addOnFiles(input),
    ],
    staticPods: [
      etcdPod(input),
      apiServerPod(input),
      controllerManagerPod(input),
      schedulerPod(input),
    ],
    manifests: addOnManifests(input),
  };
}
