import t from 'tap';
import { imageReferences, releaseMetadata } from '../../../lab/components/openshift/release.ts';

interface ImageStream {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly tags: readonly {
      readonly name: string;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly from: { readonly kind: string; readonly name: string };
    }[];
  };
}

const digest = `sha256:${'ab'.repeat(32)}`;
const stream = (names: readonly string[]): ImageStream =>
  JSON.parse(imageReferences(new Map(names.map((name) => [name, digest])), '1.34.1'));

t.test('every image of the release has one reference, in order of their names', async (t) => {
  const { kind, spec } = stream(['hyperkube', 'etcd']);
  t.equal(kind, 'ImageStream');
  const names = spec.tags.map(({ name }) => name);
  t.same(names, [...new Set(names)].sort());
  for (const [name, version] of [
    ['hyperkube', `@${digest}`],
    ['etcd', `@${digest}`],
    // It does not exist.
    ['rhel-coreos', ':4.21.0'],
  ]) {
    const tag = spec.tags.find((each) => each.name === name);
    t.same(tag?.from, { kind: 'DockerImage', name: `registry.lab/ocp/${name}${version}` });
  }
});

t.test('the version of Kubernetes is told by the image that has its programs', async (t) => {
  const { tags } = stream(['hyperkube', 'etcd']).spec;
  const told = tags.filter(({ annotations }) => annotations !== undefined);
  t.match(told, [
    { name: 'hyperkube', annotations: { 'io.openshift.build.versions': 'kubernetes=1.34.1' } },
  ]);
});

t.test('references and metadata are of the same release', async (t) => {
  t.equal(JSON.parse(releaseMetadata()).version, stream([]).metadata.name);
});
