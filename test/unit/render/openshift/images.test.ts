import t, { type Test } from 'tap';
import { hasRelease, pullRelease } from '../../../../lib/render/openshift/images.ts';
import { parseRelease } from '../../../../lib/render/openshift/release.ts';
import { stopClock } from '../../clients/kube/stopped-clock.ts';
import { FakePodman } from './fake-podman.ts';
import { digest, imageReferences, referenceOf } from './release.ts';

const releaseImage = referenceOf('release');
const never = new AbortController().signal;

function pull(podman: FakePodman, reference = releaseImage, signal = never) {
  const reports: string[] = [];
  const pulled = pullRelease(
    podman,
    { releaseImage: reference },
    {
      signal,
      deadlineMs: 60_000,
      report: (text) => reports.push(text),
    },
  );
  return { pulled, reports };
}

const rendering = [
  ...['cluster-config-api', 'cluster-authentication-operator', 'cluster-config-operator'],
  ...['cluster-etcd-operator', 'cluster-kube-apiserver-operator'],
  ...['cluster-kube-controller-manager-operator', 'cluster-kube-scheduler-operator'],
  ...['cluster-ingress-operator', 'cluster-node-tuning-operator'],
  ...['machine-config-operator', 'cloud-credential-operator'],
];

t.test('the images that render are pulled, several at once, each once', async (t) => {
  const podman = new FakePodman();
  const { pulled, reports } = pull(podman);
  const { release, images } = await pulled;
  t.same(podman.pulled, [releaseImage, ...podman.pulled.slice(1)], 'the release image first');
  t.same(podman.pulled.slice(1).toSorted(), rendering.map(referenceOf).toSorted());
  t.equal(images, 12);
  t.equal(podman.mostAtOnce, 4);
  t.equal(release.version, '4.21.0');
  t.equal(release.kubernetesVersion, '1.34.1');
  t.equal(release.images.get('etcd'), referenceOf('etcd'));
  t.match(reports[0], releaseImage);
  const again = pull(podman);
  podman.pulled.length = 0;
  await again.pulled;
  t.same(podman.pulled, [], 'podman has them');
});

t.test('a release that is read runs without a network', async (t) => {
  const podman = new FakePodman();
  await pull(podman).pulled;
  t.same(
    podman.runs.map(({ name, image, entrypoint, command, network }) => [
      name,
      image,
      entrypoint,
      ...command,
      network,
    ]),
    [
      ['sno-release-images', releaseImage, 'cat', '/release-manifests/image-references', 'none'],
      ['sno-release-metadata', releaseImage, 'cat', '/release-manifests/release-metadata', 'none'],
    ],
  );
});

t.test('a failed pull is repeated, with growing pauses', async (t) => {
  const clock = stopClock(t);
  const podman = new FakePodman();
  podman.pullFailures = 3;
  const { pulled } = pull(podman);
  const pauses = [await clock.wake(), await clock.wake(), await clock.wake()];
  t.same(pauses, [1000, 4000, 15_000]);
  // Those of the other images, which also fail three times.
  const rest = (async () => {
    for (;;) await clock.wake();
  })();
  await Promise.race([pulled, rest]);
  t.equal(podman.pulled.length, 12);
});

t.test('a pull that keeps failing is the step’s failure; a stopped one ends at once', async (t) => {
  const clock = stopClock(t);
  const podman = new FakePodman();
  podman.pullFailures = 99;
  const { pulled } = pull(podman);
  const rejected = t.rejects(pulled, { kind: 'retry', message: `could not pull ${releaseImage}` });
  for (let each = 0; each < 3; each++) await clock.wake();
  await rejected;
  const stop = new AbortController();
  const second = pull(podman, releaseImage, stop.signal).pulled;
  const stopped = t.rejects(second, { message: 'deadline' });
  await clock.sleeping();
  stop.abort(new Error('deadline'));
  await stopped;
});

t.test('an image must be the one of its digest, for this architecture', async (t) => {
  const stored = (
    image: Partial<{ digest: string; repoDigests: string[]; architecture: string }>,
  ) => {
    const podman = new FakePodman();
    const [[, own] = []] = [...podman.stored];
    t.equal(own, undefined);
    const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
    podman.stored.set(releaseImage, { digest: '', repoDigests: [], architecture, ...image });
    return pull(podman).pulled;
  };
  await t.rejects(stored({ digest: 'sha256:other', repoDigests: ['x@sha256:another'] }), {
    kind: 'fatal',
    code: 'image-mismatch',
    message: /podman has another image as .*found sha256:other, sha256:another/,
  });
  await t.rejects(stored({ digest: digest('release'), architecture: 's390x' }), {
    kind: 'fatal',
    code: 'image-mismatch',
    message: /another architecture.*found s390x/,
  });
  // The digest of a list of architectures is among the repository's.
  await stored({ digest: 'sha256:own', repoDigests: [releaseImage] });
});

t.test('a tag is replaced by the digest, if the registry gave one', async (t) => {
  const tag = 'registry.example/ocp/release:4.21.0';
  const referenceBy = async (image: { digest: string; repoDigests: string[] }) => {
    const podman = new FakePodman();
    const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
    podman.stored.set(tag, { ...image, architecture });
    return (await pull(podman, tag).pulled).release.reference;
  };
  const own = 'registry.example/ocp/release@sha256:own';
  const list = 'registry.example/ocp/release@sha256:list';
  t.equal(await referenceBy({ digest: 'sha256:own', repoDigests: [list, own] }), own);
  t.equal(await referenceBy({ digest: 'sha256:own', repoDigests: [] }), tag);
});

t.test('whether podman has everything', async (t) => {
  const podman = new FakePodman();
  t.equal(await hasRelease(podman, { releaseImage }, never), false);
  await pull(podman).pulled;
  t.equal(await hasRelease(podman, { releaseImage }, never), true);
  podman.stored.delete(referenceOf('cluster-ingress-operator'));
  t.equal(await hasRelease(podman, { releaseImage }, never), false);
});

t.test('a release image whose files cannot be used', async (t: Test) => {
  const metadata = '{"kind":"cincinnati-metadata-v0","version":"4.21.0"}';
  for (const [files, message] of [
    [{ imageReferences: 'kind: Pod\n', metadata }, /image-references .*cannot be used/],
    [{ imageReferences: '{', metadata }, /image-references .*cannot be used/],
    [{ imageReferences, metadata: 'no JSON' }, /release-metadata .*cannot be used/],
    [
      { imageReferences: imageReferences.replace('kubernetes=', 'k='), metadata },
      /does not name its Kubernetes version/,
    ],
  ] as const) {
    t.throws(() => parseRelease(releaseImage, files), { kind: 'fatal', message });
  }
  // As `oc adm release new` may write it.
  const several = imageReferences.replace('kubernetes=1.34.1', 'machine-os=9.6, kubernetes=1.34.1');
  t.equal(
    parseRelease(releaseImage, { imageReferences: several, metadata }).kubernetesVersion,
    '1.34.1',
  );
});
