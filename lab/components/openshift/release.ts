/** The lab's release: its version, and the references of its images. */

export const OPENSHIFT_VERSION = '4.21.0';

/** Where the release says that its images are. No such registry exists: the site has a mirror of it. */
export const RELEASE_REGISTRY = 'registry.lab/ocp';

/** Reference of an image by its name in the release and its tag, for archives. */
export function imageReference(name: string): string {
  return `${RELEASE_REGISTRY}/${name}:${OPENSHIFT_VERSION}`;
}

/** The same by its digest (`sha256:...`), as releases name their images. */
export function referenceByDigest(name: string, digest: string): string {
  return `${RELEASE_REGISTRY}/${name}@${digest}`;
}

/** Names that renders write into manifests, without an image behind them. */
const namesOnly = [
  ...['cli', 'cluster-bootstrap', 'coredns', 'docker-registry'],
  ...['haproxy-router', 'keepalived-ipfailover', 'kube-rbac-proxy', 'oauth-proxy'],
  ...['rhel-coreos', 'rhel-coreos-extensions'],
];

/** `/release-manifests/image-references`, for these images (digests by name) and Kubernetes' version. */
export function imageReferences(
  digests: ReadonlyMap<string, string>,
  kubernetesVersion: string,
): string {
  const annotations = { 'io.openshift.build.versions': `kubernetes=${kubernetesVersion}` };
  const references = new Map([
    ...namesOnly.map((name) => [name, imageReference(name)] as const),
    ...[...digests].map(([name, digest]) => [name, referenceByDigest(name, digest)] as const),
  ]);
  const tags = [...references.keys()].sort().map((name) => ({
    name,
    ...(name === 'hyperkube' ? { annotations } : {}),
    from: { kind: 'DockerImage', name: references.get(name) },
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

/**
 * Namespaces of other operators' manifests that no operator renders: the cluster-version operator
 * creates them from the release.
 */
export const RELEASE_NAMESPACES: readonly string[] = [
  'openshift-config',
  'openshift-config-managed',
  'openshift-machine-api',
  'openshift-machine-config-operator',
];

export function namespaceManifest(name: string): string {
  return json({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
