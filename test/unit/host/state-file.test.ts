import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { stateFile } from '../../../lib/host/state-file.ts';
import { freshFolder } from '../engine/steps/fresh-folder.ts';
import { killedAtAnyMoment } from '../engine/steps/killed-at-any-moment.ts';

const schema = z.object({
  schemaVersion: z.literal(1),
  at: z.iso.datetime().transform((text) => new Date(text)),
});
const written = { schemaVersion: 1, at: '2026-01-02T03:04:05.000Z' } as const;
const damaged = { expected: 'the time of the last run', fix: 'Delete it.' };

const modeOf = (path: string) => statSync(path).mode & 0o7777;

t.test('what is written is read again, until it is removed', async (t) => {
  const path = join(freshFolder(t), 'agent/state.json');
  const file = stateFile(path, schema, { damaged });
  t.equal(file.path, path);
  t.equal(await file.read(), undefined, 'missing');
  t.equal(await file.remove(), false);
  await file.write(written);
  t.equal(readFileSync(path, 'utf8'), `${JSON.stringify(written)}\n`);
  t.strictSame(await file.read(), { schemaVersion: 1, at: new Date(written.at) });
  t.equal(await file.remove(), true);
  t.equal(await file.read(), undefined);
});

t.test('modes of the file and of its folder, and its form', async (t) => {
  const umask = process.umask(0);
  t.teardown(() => process.umask(umask));
  const folder = freshFolder(t);
  const at = (name: string) => join(folder, name, 'state.json');
  await stateFile(at('usual'), schema, { damaged }).write(written);
  t.strictSame([modeOf(at('usual')), modeOf(dirname(at('usual')))], [0o600, 0o755]);
  const options = { damaged, mode: 0o644, folderMode: 0o700, isIndented: true } as const;
  await stateFile(at('other'), schema, options).write(written);
  t.strictSame([modeOf(at('other')), modeOf(dirname(at('other')))], [0o644, 0o700]);
  t.equal(readFileSync(at('other'), 'utf8'), `${JSON.stringify(written, null, 2)}\n`);
});

const DAMAGED: readonly [what: string, text: string, found: RegExp][] = [
  ['empty', '', /found no JSON\. Delete it\.$/],
  ['zeros', '\0'.repeat(4096), /found no JSON/],
  ['half', JSON.stringify(written).slice(0, -4), /found no JSON/],
  [
    'another version',
    JSON.stringify({ ...written, schemaVersion: 2 }),
    /found schemaVersion: expected 1/,
  ],
  [
    'a field without a meaning',
    JSON.stringify({ ...written, at: 'now' }),
    /found at: expected a time such as /,
  ],
  ['another kind of value', '[]', /found expected a mapping, found a list/],
];

t.test('a damaged file names itself, the field, and what to do; or counts as none', async (t) => {
  const path = join(freshFolder(t), 'state.json');
  for (const [what, text, found] of DAMAGED) {
    writeFileSync(path, text);
    const message = new RegExp(`${path} cannot be used; expected the time of the last run; `);
    await t.rejects(stateFile(path, schema, { damaged }).read(), { kind: 'fatal', message }, what);
    await t.rejects(stateFile(path, schema, { damaged }).read(), { message: found }, what);
    t.equal(await stateFile(path, schema, { damaged: 'none' }).read(), undefined, what);
  }
  const given = { ...damaged, kind: 'usage', code: 'snapshot-unusable' } as const;
  const expected = { kind: 'usage', code: 'snapshot-unusable' };
  await t.rejects(stateFile(path, schema, { damaged: given }).read(), expected);
});

t.test(
  'a file that cannot be read is not a missing one, unless it can be done without',
  async (t) => {
    const path = join(freshFolder(t), 'state.json');
    mkdirSync(path);
    for (const policy of [damaged, 'none-if-read'] as const) {
      await t.rejects(stateFile(path, schema, { damaged: policy }).read(), { code: 'EISDIR' });
    }
    t.equal(await stateFile(path, schema, { damaged: 'none' }).read(), undefined);
  },
);

t.test('is the old or the new one at any moment, and durable at the end', async (t) => {
  let number = 0;
  const folder = freshFolder(t);
  const later = { ...written, at: '2026-02-03T04:05:06.000Z' };
  const hostFile = (host: string) => stateFile(join(host, 'state.json'), schema, { damaged });
  await killedAtAnyMoment(t, {
    async prepare() {
      number += 1;
      const host = join(folder, String(number));
      mkdirSync(host);
      await hostFile(host).write(written);
      return host;
    },
    run: (host) => hostFile(host).write(later),
    async allowed(host, when) {
      const at = (await hostFile(host).read())?.at.toISOString();
      t.ok(at === written.at || at === later.at, when);
    },
    result: (host) => readFileSync(join(host, 'state.json'), 'utf8'),
    least: 3,
    isDurable: true,
  });
});
