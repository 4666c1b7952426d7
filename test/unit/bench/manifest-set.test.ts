import t from 'tap';
import { definitionNames, manifestSet } from '../../../bench/apply/manifest-set.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import { splitDuplicates } from '../../../lib/clients/kube/manifests.ts';

const decoded = (set: string) =>
  manifestSet(set)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, object }) => decodeManifests(name, JSON.stringify(object)).manifests);

t.test('a set has 500 objects, none of them in another set', async (t) => {
  const both = splitDuplicates([...decoded('a'), ...decoded('b')]);
  t.equal(decoded('a').length, 500);
  t.equal(both.manifests.length, 1000);
});

t.test('the order of the files puts dependencies first', async (t) => {
  const sorted = decoded('a');
  const place = (wanted: (manifest: (typeof sorted)[number]) => boolean) =>
    sorted.findIndex(wanted);
  for (const name of definitionNames('a')) {
    const [plural = '', ...group] = name.split('.');
    const definition = place((manifest) => manifest.name === name);
    const first = place(
      ({ apiVersion, kind }) =>
        apiVersion === `${group.join('.')}/v1` && `${kind.toLowerCase()}s` === plural,
    );
    t.ok(definition >= 0 && definition < first, name);
  }
});
