/** The lab's release: its version, and the references of its images. */

export const OPENSHIFT_VERSION = '4.21.0';

/** Reference of an image by its name in the release. */
export function imageReference(name: string): string {
  return `registry.lab/ocp/${name}:${OPENSHIFT_VERSION}`;
}

/** Names that renders write into manifests, without an image behind them. */
const namesOnly = [
  ...['baremetal-runtimecfg', 'cli', 'cluster-bootstrap', 'coredns', 'docker-registry'],
  ...['haproxy-router', 'keepalived-ipfailover', 'kube-rbac-proxy', 'oauth-proxy'],
  ...['rhel-coreos', 'rhel-coreos-extensions'],
];

/** `/release-manifests/image-references`, for images with these names and Kubernetes' version. */
export function imageReferences(names: readonly string[], kubernetesVersion: string): string {
  const annotations = { 'io.openshift.build.versions': `kubernetes=${kubernetesVersion}` };
  const tags = [...names, ...namesOnly].sort().map((name) => ({
    name,
    ...(name === 'hyperkube' ? { annotations } : {}),
    from: { kind: 'DockerImage', name: imageReference(name) },
  }));
  return json({
    kind: 'ImageStream',
    apiVersion: 'image.openshift.io/v1',
    metadata: { name: OPENSHIFT_VERSION },
    spec: { lookupPolicy: { local: false }, tags },
  });
}

/** `/release-manifests/release-metadata`. */
export function releaseMetadata(): string {
  return json({ kind: 'cincinnati-metadata-v0', version: OPENSHIFT_VERSION, previous: [] });
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
