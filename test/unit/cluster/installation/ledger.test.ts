import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import t from 'tap';
import {
  isLeft,
  type LedgerEntry,
  ledgerSchema,
  readLedger,
} from '../../../../lib/cluster/installation/ledger.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';

const signal = new AbortController().signal;
const entry: LedgerEntry = {
  path: '/etc/bootstrap.key',
  sha256: createHash('sha256').update('installed').digest('hex'),
  why: 'the bootstrap',
  when: 'steady-state',
};

t.test('a file is a leftover as long as it has the installed contents', async (t) => {
  const paths = hostPaths(t.testdir({ etc: {} }));
  t.equal(await isLeft(paths, entry, signal), false, 'no file');
  writeFileSync(paths.at(entry.path), 'installed');
  t.equal(await isLeft(paths, entry, signal), true);
  writeFileSync(paths.at(entry.path), 'overwritten by an operator');
  t.equal(await isLeft(paths, entry, signal), false, 'the file belongs to another now');
});

t.test('an unreadable file is not reported as deleted', async (t) => {
  const paths = hostPaths(t.testdir({ etc: {} }));
  mkdirSync(paths.at(entry.path));
  await t.rejects(isLeft(paths, entry, signal), { code: 'EISDIR' });
});

t.test('a damaged ledger is named, with the host that has a copy', async (t) => {
  const paths = hostPaths(t.testdir({ etc: { 'sno-agents': { 'leftovers.json': '{"entries"' } } }));
  await t.rejects(readLedger(paths), {
    kind: 'fatal',
    message: /leftovers\.json cannot be used.*on a host that a live host installed/,
  });
});

t.test('every entry says when it may be deleted; a unit is optional', async (t) => {
  const accepts = (change: object) =>
    ledgerSchema.safeParse({ entries: [{ ...entry, ...change }], goneKeys: [] }).success;
  t.ok(accepts({}));
  t.ok(accepts({ unit: 'x.service' }));
  t.notOk(accepts({ when: 'now' }));
  t.notOk(accepts({ unit: 1 }));
  for (const field of Object.keys(entry)) t.notOk(accepts({ [field]: undefined }), field);
});
