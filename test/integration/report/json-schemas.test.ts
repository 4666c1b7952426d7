import { join } from 'node:path';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import t from 'tap';
import { z } from 'zod';
import { gatherRecordSchema } from '../../../report/gather-record.ts';
import { analyze } from '../../../report/report.ts';
import { reportSchema } from '../../../report/schema.ts';
import { read } from '../../unit/docs/documents.ts';
import { gatherHere } from '../../unit/gather/in-process.ts';
import type { Synthetic } from '../../unit/gather/synthetic.ts';
import { GatherTester, unpacked } from '../../unit/gather/tester.ts';
import { M, step } from '../../unit/report/rule-case.ts';
import { filesOf, viewOf } from '../../unit/report/view.ts';

const jsonObject = z.record(z.string(), z.json());

function validatorOf(schema: AnySchemaObject) {
  // The schemas contain patterns for times as well.
  const validate = new Ajv2020({
    strict: true,
    strictTypes: false,
    formats: { 'date-time': true },
  }).compile(schema);
  return (document: unknown) => (validate(document) ? [] : (validate.errors ?? []));
}

const publishedSchema = (name: string) =>
  jsonObject.parse(JSON.parse(read(`docs/reference/schemas/${name}.schema.json`)));

const published = (name: string) => validatorOf(publishedSchema(name));

/** The same schema, but without additional properties. */
const closed = { gather: gatherRecordSchema, report: reportSchema } as const;

const files = filesOf('broken');
const sources: Synthetic[] = [
  ...Object.entries(files).map(([path, text]): Synthetic => ({ path, does: 'text', text })),
  { path: 'resources/pods.json', does: 'throws' },
  { path: 'bulk.log', does: 'lines', bytes: 100_000, limitBytes: 5000, phase: 'bulk' },
];

t.test('output of gather matches the published schemas', async (t) => {
  const tester = new GatherTester(t);
  for (const [id, args] of [
    ['plain', []],
    ['some', ['--since', '2h', '--only', 'other']],
  ] as const) {
    const { code } = await gatherHere(tester, ['gather', '--id', id, ...args], sources);
    t.equal(code, 0);
    const archive = join(tester.home, `log-bundle-${id}.tar.gz`);
    for (const name of ['gather', 'report'] as const) {
      const document = jsonObject.parse(
        JSON.parse(unpacked(archive, `log-bundle-${id}/${name}.json`)),
      );
      t.strictSame(published(name)(document), [], `${id}: ${name}.json`);
      const strict = validatorOf(z.toJSONSchema(closed[name], { target: 'draft-2020-12' }));
      t.strictSame(strict(document), [], `${id}: ${name}.json has no field that is not published`);
      t.match(document, { schemaVersion: 1, version: /./ });
      const { schemaVersion: _, ...without } = document;
      t.not(published(name)(without).length, 0, 'schemaVersion is required');
      t.not(published(name)({ ...document, version: 1 }).length, 0);
      t.strictSame(published(name)({ ...document, later: true }), [], 'fields may be added');
    }
  }
});

t.test('failures of agents and empty bundles match the schema too', async (t) => {
  const failure = {
    code: 'x',
    kind: 'fatal',
    what: 'x failed',
    parts: [{ code: 'y', kind: 'retry', what: 'y failed' }],
    cause: { code: 'z', kind: 'bug', what: 'z', stack: 'at z' },
  };
  const failed = step('15:00:00', 'etcd', 'failed', 'x failed', { failure });
  for (const view of [viewOf({}), viewOf({ [`${M}/steps/post-reboot.jsonl`]: failed })]) {
    t.strictSame(published('report')(analyze(view, { isInterrupted: true })), []);
  }
});

t.test('every field that needs a description has one', async (t) => {
  for (const name of ['gather', 'report']) {
    const text = JSON.stringify(publishedSchema(name));
    t.match(text, '"$schema":"https://json-schema.org/draft/2020-12/schema"');
    t.ok(text.split('"description"').length > 6, name);
  }
});
