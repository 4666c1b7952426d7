import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Failure } from '../../../lib/errors/failure.ts';
import { Journal, type JournalEntry, readJournal } from '../../../lib/steps/journal.ts';
import { isLocked, lockAgent } from '../../../lib/steps/lock.ts';
import { ServiceRecord } from '../../../lib/steps/service-record.ts';
import { type AgentStatus, readStatus, StatusFile } from '../../../lib/steps/status.ts';
import { recordFileOperations } from '../host/file-operations.ts';

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
  await t.test('a line for each entry, in folders that it makes', async (t) => {
    const path = join(t.testdir(), 'var/lib/x/journal.jsonl');
    const journal = await Journal.open(path);
    t.strictSame(journal.entries, []);
    await journal.append(entry());
    await journal.append(entry({ event: 'done', seconds: 1.5, note: 'with\nline' }));
    t.equal(readFileSync(path, 'utf8').split('\n').length, 3);
    t.strictSame(await readJournal(path), journal.entries);
    t.equal(statSync(path).mode & 0o777 & ~0o644, 0);
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

t.test('an entry is on the disk before the step goes on', async (t) => {
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
    t.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 5000, 'UTC');
  }
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
  const file = new StatusFile(path, async () => undefined);
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
});

t.test('lock', async (t) => {
  const root = t.testdir();
  t.equal(await isLocked('one', root), false);
  {
    using _lock = await lockAgent('one', root);
    t.equal(await isLocked('one', root), true);
    await t.rejects(lockAgent('one', root), { kind: 'usage', message: /^one is already running/ });
    using _other = await lockAgent('two', root);
    using _elsewhere = await lockAgent('one', `${root}/other`);
    t.equal(await isLocked('one', root), true, 'asking and trying do not free it');
  }
  using _again = await lockAgent('one', root);
  t.ok(_again, 'free after it was disposed of');
});
