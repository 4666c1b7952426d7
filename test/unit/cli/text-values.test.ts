/** Values in manifests that the API refuses since they are no texts. */
import t from 'tap';
import { valueFaults } from '../../../cli/create/defer-manifests.ts';
import { otherThanText } from '../../../cli/create/text-values.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import { OTHER_THAN_TEXT, TEXTS } from './text-values.ts';

const judge = (text: string) => {
  const { manifests, undecodable } = decodeManifests('a.yaml', text);
  if (undecodable.length > 0) throw new Error(JSON.stringify(undecodable));
  return manifests.map(otherThanText).find((each) => each !== undefined);
};

t.test('texts that YAML takes for something else', async (t) => {
  for (const [text, says] of OTHER_THAN_TEXT) {
    t.match(judge(text), says, text);
    t.notMatch(judge(text), /hunter2|1234|8080/, 'values are not shown');
  }
});

t.test('objects out of a cluster', async (t) => {
  const of = (metadata: string) =>
    decodeManifests(
      'a.yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a${metadata}}\n`,
    ).manifests.flatMap(valueFaults);
  t.match(of(', resourceVersion: "123", uid: 1-2'), [
    /^a\.yaml:1: metadata\.resourceVersion: .*Remove/,
  ]);
  for (const taken of ['', ', uid: 1-2', ', resourceVersion: ""', ', resourceVersion: "0"']) {
    t.same(of(taken), [], taken);
  }
});

t.test('right ones, and kinds whose fields are their own', async (t) => {
  for (const text of [
    ...TEXTS,
    'apiVersion: example.com/v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {port: 8080}',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1}',
    'apiVersion: example.com/v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{args: [1]}]}',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: none}',
  ]) {
    t.equal(judge(text), undefined, text);
  }
});
