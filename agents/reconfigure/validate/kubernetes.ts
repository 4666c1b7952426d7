import { Failure } from '../../../lib/base/errors/failure.ts';
import { readKubeletEnvironment } from '../../../lib/host/kubelet-environment.ts';
import { asNobody } from '../../../lib/render/kubernetes/addons/objects.ts';
import type { KeylessInput } from '../../../lib/render/renderer.ts';
import { listCertificates } from '../../steps/certificates/list.ts';
import type { PlainHost } from '../../steps/host-context.ts';
import type { Platform } from './platform.ts';

/** A control plane of the Kubernetes payload, described by what it was rendered from. */
export const kubernetesPlatform = (
  { paths, settings }: Pick<PlainHost, 'paths' | 'settings'>,
  { host: { images, versions } }: KeylessInput,
): Platform => ({
  windowMs: settings.validateWindowMs,
  async probeMaterial() {
    const { etcd: image } = images;
    if (image === undefined) throw new Failure('fatal', 'the payload has no image of etcd');
    return {
      image,
      securityContext: { ...asNobody, fsGroup: asNobody.runAsGroup },
      withoutServices:
        images['kube-proxy'] === undefined ? 'the payload has no kube-proxy' : undefined,
    };
  },
  async facts() {
    const kubelet = await readKubeletEnvironment(paths);
    return {
      certificates: (await listCertificates(paths)).items,
      kubelet: { nodeIps: kubelet?.nodeIps ?? [], nodeName: kubelet?.nodeName },
      ownNames: [],
      otherFaults: [],
      otherNotes: [],
      unitImages: [],
      operators: { faults: [], notes: [] },
      versions: { kubernetes: versions.kubernetes },
    };
  },
});
