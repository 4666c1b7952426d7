import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv/dist/2020.js';
import t from 'tap';
import { schemaDocuments } from '../../../docs/schemas.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { backupList, backupsFolder } from '../../../lib/change/backup/store.ts';
import { Reporter, statusPath } from '../../../lib/engine/steps/reporter.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { writeBackup } from '../change/backup/backup-folder.ts';
import { sno } from '../cli/run-sno.ts';
import { read } from './documents.ts';

/** Compiled by a validator other than the generator of the schema; formats are annotations. */
function validator(name: string) {
  const schema: object = JSON.parse(read(`docs/reference/schemas/${name}.schema.json`));
  return new Ajv.Ajv2020({ strict: true, strictTypes: false, validateFormats: false }).compile(
    schema,
  );
}

t.test('every schema is of draft 2020-12 and rejects other documents', async (t) => {
  t.ok(schemaDocuments().length >= 3);
  for (const { path, contents } of schemaDocuments()) {
    t.match(JSON.parse(contents), { $schema: /2020-12/, title: String }, path);
    const name = /([a-z-]+)\.schema\.json$/.exec(path)?.[1] ?? '';
    const validate = validator(name);
    for (const other of [null, [], {}, { schemaVersion: 0 }, 'text']) {
      t.notOk(validate(other), `${path} refuses ${JSON.stringify(other)}`);
    }
  }
});

t.test('a status written by the agents matches its schema', async (t) => {
  const paths = hostPaths(t.testdir());
  const validate = validator('status');
  const agree = (what: string) => {
    const status: unknown = JSON.parse(readFileSync(statusPath(paths, 'tester'), 'utf8'));
    t.ok(validate(status), `${what}: ${JSON.stringify(validate.errors)}`);
  };
  const reporter = new Reporter({ agent: 'tester', unit: 'unit' }, paths);
  await reporter.agentBegins();
  agree('begins');
  const part = new Failure('retry', 'no record', { code: 'dns-record-missing', subject: 'api' });
  const failure = new Failure('deadline', 'no leader', {
    expected: 'one',
    parts: [part],
    cause: new TypeError('x is no function'),
  });
  reporter.stepBegins('etcd', 1, 2, 1000);
  await reporter.attemptBegins('etcd', 1, 1000);
  reporter.waiting('etcd');
  await reporter.agentEnds('failed', 3, failure);
  agree('failed');
});

t.test('backups and their list match their schemas', async (t) => {
  const paths = hostPaths(t.testdir());
  const key = { 'host/etc/kubernetes/pki/ca/etcd/ca.key': 'a key' };
  const manifest = writeBackup(join(backupsFolder(paths), '20300102T030405Z'), key);
  writeBackup(join(backupsFolder(paths), '20300103T030405Z'), {}, { hostname: '' });
  writeFileSync(join(backupsFolder(paths), '20300103T030405Z', 'etcd-snapshot.db'), '');
  mkdirSync(join(backupsFolder(paths), '20300104T030405Z'));
  const newer = JSON.stringify({ schemaVersion: 2 });
  writeFileSync(join(backupsFolder(paths), '20300104T030405Z', 'manifest.json'), newer);
  const list = await backupList(paths);
  t.same(
    list.backups.map(({ state }) => state),
    ['complete', 'damaged', 'newer'],
  );
  for (const [name, document] of Object.entries({ backup: manifest, backups: list })) {
    const validate = validator(name);
    t.ok(validate(document), `${name}: ${JSON.stringify(validate.errors)}`);
  }
});

t.test('the topologies that sno explains match their schema', async (t) => {
  const validate = validator('topology');
  for (const args of [
    [],
    ['--compute', '1'],
    ['--compute', '2', '--release', '4.16'],
    ['--platform', 'aws', '--kind', 'openshift'],
  ]) {
    const { out } = await sno(['explain', 'topology', '--json', ...args]);
    t.ok(validate(JSON.parse(out)), `${args.join(' ')}: ${JSON.stringify(validate.errors)}`);
  }
});
