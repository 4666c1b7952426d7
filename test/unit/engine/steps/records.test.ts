import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { Journal, type JournalEntry, readJournal } from '../../../../lib/engine/steps/journal.ts';
import { ServiceRecord } from '../../../../lib/engine/steps/service-record.ts';
import { type AgentStatus, readStatus, StatusFile } from '../../../../lib/engine/steps/status.ts';
import { recordFileOperations } from '../../host/file-operations.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

const entry = (more: Partial<JournalEntry> = {}): JournalEntry => ({
  at: '2026-01-01T00:00:00.000Z',
  boot: 'b',
  up: 1,
  step: 'a',
  input: 'i',
  event: 'started',
  attempt: 1,
  ...more,
});

t.test('journal', async (t) => {
  await t.test('one line per entry, in folders that it creates', async (t) => {
    const path = join(t.testdir(), 'var/lib/x/journal.jsonl');
    const umask = process.umask(0);
    t.teardown(() => process.umask(umask));
    const journal = await Journal.open(path);
    t.strictSame(journal.entries, []);
    await journal.append(entry());
    await journal.append(entry({ event: 'done', seconds: 1.5, note: 'with\nline' }));
    t.equal(readFileSync(path, 'utf8').split('\n').length, 3);
    t.strictSame(await readJournal(path), journal.entries);
    t.equal(modeOf(path), 0o644);
    t.equal(modeOf(dirname(path)), 0o755);
  });
  const good = JSON.stringify(entry());
  const table: [string, string, number][] = [
    ['nothing', '', 0],
    ['a torn end', `${good}\n{"at":"20`, 1],
    ['a whole line without its end', good, 1],
    ['a single torn character', '{', 0],
    ['zeros, as a power cut leaves', `${good}\n\0\0\0\0\n${good}\n`, 2],
    ['an event of a later version', `${good.replace('started', 'paused')}\n${good}\n`, 1],
    ['other JSON', `[]\nnull\n"x"\n{}\n${good}\n`, 1],
    ['empty lines', `\n\n${good}\n\n`, 1],
  ];
  for (const [name, text, count] of table) {
    await t.test(name, async (t) => {
      const path = join(t.testdir({ j: text }), 'j');
      t.equal((await readJournal(path)).length, count);
      const journal = await Journal.open(path);
      await journal.append(entry({ step: 'next' }));
      const entries = await readJournal(path);
      t.equal(entries.length, count + 1, 'what is appended is apart from it');
      t.equal(entries.at(-1)?.step, 'next');
    });
  }
  await t.rejects(readJournal(t.testdir()), { code: 'EISDIR' }, 'not taken for an empty one');
});

t.test('an entry is synced before the step continues', async (t) => {
  const folder = t.testdir();
  const journal = await Journal.open(join(folder, 'journal.jsonl'));
  const operations = await recordFileOperations(t, folder);
  await journal.append(entry());
  t.strictSame(operations.seen, ['datasync journal.jsonl', 'sync .'], 'and its file in the folder');
  await journal.append(entry({ event: 'done' }));
  t.strictSame(operations.seen.slice(2), ['datasync journal.jsonl']);
  operations.failAt(/^datasync/, new Error('EIO: i/o error'));
  await t.rejects(journal.append(entry({ step: 'next' })), {
    kind: 'retry',
    message: /cannot write the step journal .*journal\.jsonl.*Free space/,
    code: 'journal-unwritable',
    cause: { message: 'EIO: i/o error' },
  });
  t.equal(journal.entries.length, 2, 'what may not be on the disk is not remembered');
});

t.test('service record', async (t) => {
  const path = join(t.testdir(), 'log/bootkube.json');
  const record = new ServiceRecord(path);
  const began = Date.now();
  const noQuorum = new Failure('deadline', 'etcd: no quorum', { code: 'rpc-failed' });
  await Promise.all([
    record.serviceStart(),
    record.stageStart('render'),
    record.stageEnd('render'),
    record.stageStart('etcd'),
    record.stageEnd('etcd', noQuorum),
    record.serviceEnd(noQuorum),
  ]);
  const read = (): Record<string, string>[] => JSON.parse(readFileSync(path, 'utf8'));
  const failure = { code: 'rpc-failed', kind: 'deadline', what: 'etcd: no quorum' };
  const failed = { result: 'failure', errorMessage: 'etcd: no quorum', failure };
  t.strictSame(
    read().map(({ timestamp, ...rest }) => rest),
    [
      { phase: 'service start' },
      { phase: 'stage start', stage: 'render' },
      { phase: 'stage end', stage: 'render', result: 'success' },
      { phase: 'stage start', stage: 'etcd' },
      { phase: 'stage end', stage: 'etcd', ...failed },
      { phase: 'service end', ...failed },
    ],
  );
  for (const { timestamp = '' } of read()) {
    t.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    // Whole seconds, UTC.
    t.ok(Date.parse(timestamp) > began - 1000 && Date.parse(timestamp) <= Date.now(), timestamp);
  }
  t.equal(modeOf(path), 0o644, 'openshift-install and people read it');
  await new ServiceRecord(path).serviceStart();
  t.equal(read().length, 7, 'a later start is added');
  for (const damage of ['[{"timestamp"', '{}', '[{"phase":"tea"}]']) {
    writeFileSync(path, damage);
    await new ServiceRecord(path).serviceStart();
    t.match(read(), [{ phase: 'service start' }], `replaced after ${damage}`);
  }
  t.strictSame(readdirSync(join(path, '..')), ['bootkube.json'], 'nothing is left beside');
});

t.test('status file', async (t) => {
  const path = join(t.testdir(), 'run/status.json');
  let written = 0;
  const file = new StatusFile(path, async () => {
    written++;
  });
  const status = (number: number): AgentStatus => ({
    schemaVersion: 1,
    version: '1.2.3',
    agent: 'a',
    unit: 'u',
    state: 'running',
    updated: '',
    step: { name: 's', number, of: 9, attempt: 1, since: '', until: '' },
  });
  t.equal(await readStatus(path), undefined);
  for (let number = 0; number < 9; number++) file.publish(status(number));
  await file.flush();
  t.strictSame(await readStatus(path), status(8), 'the newest wins');
  t.equal(written, 2, 'of those that came while the first was written only the newest is');
  file.publish(status(9));
  await file.flush();
  t.strictSame(await readStatus(path), status(9), 'after a pause, too');
  t.equal(written, 3);
  t.equal(modeOf(path), 0o644);
  for (const text of ['{}', 'null', JSON.stringify({ ...status(9), schemaVersion: 2 })]) {
    writeFileSync(path, text);
    t.equal(await readStatus(path), undefined, text);
  }
});

t.test('a status that cannot be written blocks nothing', async (t) => {
  const folder = t.testdir({ run: 'a file' });
  let written = 0;
  const file = new StatusFile(join(folder, 'run/status.json'), async () => {
    written++;
  });
  file.publish({
    schemaVersion: 1,
    version: '1',
    agent: 'a',
    unit: 'u',
    state: 'done',
    updated: '',
  });
  await t.resolves(file.flush());
  t.equal(written, 1, 'the login prompt is told all the same');
});
