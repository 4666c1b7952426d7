import type { PulledRelease } from '../../../../lib/render/openshift/release.ts';
import { stagesMinor } from '../../../../lib/render/openshift/versions.ts';

const names = [
  ...['cluster-config-api', 'cluster-authentication-operator', 'cluster-config-operator'],
  ...['cluster-etcd-operator', 'cluster-kube-apiserver-operator', 'etcd', 'hyperkube', 'pod'],
  ...['cluster-kube-controller-manager-operator', 'cluster-kube-scheduler-operator'],
  ...['cluster-policy-controller', 'cluster-ingress-operator', 'cluster-node-tuning-operator'],
  ...['machine-config-operator', 'cloud-credential-operator'],
];

export const digest = (name: string) =>
  `sha256:${Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64)}`;
export const referenceOf = (name: string) => `registry.example/ocp@${digest(name)}`;

/** `/release-manifests/image-references` of a release image. */
export const imageReferences = JSON.stringify({
  apiVersion: 'image.openshift.io/v1',
  kind: 'ImageStream',
  metadata: { name: '4.21.0' },
  spec: {
    tags: names.map((name) => ({
      name,
      from: { kind: 'DockerImage', name: referenceOf(name) },
      ...(name === 'hyperkube'
        ? { annotations: { 'io.openshift.build.versions': 'kubernetes=1.34.1' } }
        : {}),
    })),
  },
});

export const release = (version: string): PulledRelease => ({
  reference: referenceOf('release'),
  version,
  stages: stagesMinor(version, false),
  kubernetesVersion: '1.34.1',
  images: new Map(names.map((name) => [name, referenceOf(name)])),
  imageReferences,
});
