import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { openAgentLog } from '../../../lib/base/log/agent-log.ts';
import { eventLine, journalEntry } from '../../../lib/base/log/journal-event.ts';
import { JournaldWriter, writesToJournal } from '../../../lib/base/log/journald.ts';
import { EVENTS } from '../../../lib/base/log/message-ids.ts';
import { OrderedOutput } from '../../../lib/base/log/ordered-output.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const fixtures = join(import.meta.dirname, 'fixtures');
const CATALOG = join(root, 'units/catalog/sno-agents.catalog');
const origin = { agent: 'post-reboot', pid: 77 };

t.test('an entry has one field per line', async (t) => {
  const failure = {
    step: 'etcd',
    code: 'etcd-down',
    attempt: 3,
    seconds: 1.5,
    expected: 'an answer',
    found: 'first\n\n second\r\nMESSAGE_ID=0',
    fix: '',
    cause: undefined,
    stack: 'at token=hunter2',
  };
  t.equal(
    journalEntry('step-failed', origin, 'etcd: failed\nwith password=hunter2', failure),
    `MESSAGE=etcd: failed | with password=<redacted> attempt=3 seconds=1.5s code=etcd-down
MESSAGE_ID=9affedb57b31451a89606e6f9eb93409
PRIORITY=3
SYSLOG_IDENTIFIER=post-reboot
OBJECT_PID=77
AGENT=post-reboot
EVENT=step-failed
STEP=etcd
ATTEMPT=3
SECONDS=1.5
CODE=etcd-down
EXPECTED=an answer
FOUND=first | second | MESSAGE_ID=0
STACK=at token=<redacted>
`,
  );
  t.equal(
    eventLine('etcd: started', { step: 'etcd', left: 0, attempt: 1 }),
    'etcd: started attempt=1 left=0s',
  );
  const pod = 'pod\u001b]0;x\u0007\u009bA\u202eb\u2028PRIORITY=0';
  const hostile = journalEntry('step-failed', origin, pod, { waitingFor: pod });
  const shown = 'pod\\u001b]0;x\\u0007\\u009bA\\u202eb\\u2028PRIORITY=0';
  t.match(hostile, `MESSAGE=${shown}\n`);
  t.match(hostile, `WAITING_FOR=${shown}\n`);
  const long = journalEntry('step-failed', origin, 'x', { found: 'y'.repeat(1e6) });
  t.ok(long.length < 20_000, 'a value is cut: an entry has to fit a datagram');
  t.match(long, /FOUND=y{1000,} \.\.\.\n/);
});

t.test('if journald reads, an event is an entry and not a line', async (t) => {
  const written: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { log, events } = openAgentLog('bootkube', {
    write: (line) => written.push(line),
    isJournal: true,
    journald: {
      send: async (entry) => {
        await gate;
        return written.push(entry.split('\n')[0] ?? '') > 0;
      },
    },
  });
  log.info('before');
  const first = events.event('step-started', 'a: started', { attempt: 1 });
  log.warn('between');
  const second = events.event('step-done', 'a: done');
  log.info('after');
  t.strictSame(written, ['<6>before\n'], 'what comes after an event waits for it');
  open();
  await Promise.all([first, second]);
  log.info('at once');
  t.strictSame(written, [
    '<6>before\n',
    'MESSAGE=a: started attempt=1',
    '<4>between\n',
    'MESSAGE=a: done',
    '<6>after\n',
    '<6>at once\n',
  ]);
});

t.test('an event that cannot be written as an entry is a line, in order', async (t) => {
  const written: string[] = [];
  const { log, events } = openAgentLog('bootkube', {
    write: (line) => written.push(line),
    isJournal: true,
    journald: { send: async () => false },
  });
  const failed = events.event('step-failed', 'a: failed', { fix: 'Do it.' });
  log.info('after');
  await failed;
  t.strictSame(written, ['<3>a: failed\n', '<6>after\n']);
});

t.test('on a terminal it is a line without a priority, written immediately', async (t) => {
  const written: string[] = [];
  const journald = { send: async () => t.fail('nothing is sent') };
  const { events } = openAgentLog('bootkube', {
    write: (line) => written.push(line),
    isJournal: false,
    journald,
  });
  void events.event('step-failed', 'a: failed', { found: 'x', attempt: 2 });
  t.strictSame(written, ['a: failed attempt=2\n']);
});

t.test('pending entries are written when the process ends', async (t) => {
  const source = `
    const { OrderedOutput } = await import(${JSON.stringify(join(root, 'lib/base/log/ordered-output.ts'))});
    const output = new OrderedOutput((line) => process.stdout.write(line));
    output.entry({ fallback: 'event\\n', send: () => new Promise(() => {}) });
    output.line('line\\n');
    process.exit(3);`;
  const { stdout, exitCode } = await execa(
    process.execPath,
    ['--input-type=module', '--eval', source],
    { reject: false, timeout: 60_000 },
  );
  t.strictSame([stdout, exitCode], ['event\nline', 3]);
  const listeners = process.listenerCount('exit');
  const output = new OrderedOutput(() => undefined);
  await output.entry({ fallback: '', send: async () => true });
  t.equal(process.listenerCount('exit'), listeners, 'nothing is left behind otherwise');
});

t.test('logger gets the entries until it fails', async (t) => {
  const folder = t.testdir({ bin: {}, socket: '' });
  const program = join(folder, 'bin/logger');
  withProgram(t, program, 'echo "$*" >>"$0.calls"; cat >>"$0.input"; exit "$(cat "$0.exit")"');
  writeFileSync(`${program}.exit`, '0');
  const writer = new JournaldWriter(join(folder, 'socket'));
  t.equal(await writer.send('MESSAGE=x\nSTEP=y\n'), true);
  t.equal(readFileSync(`${program}.calls`, 'utf8'), '--journald\n');
  t.equal(readFileSync(`${program}.input`, 'utf8'), 'MESSAGE=x\nSTEP=y\n');
  writeFileSync(`${program}.exit`, '1');
  t.equal(await writer.send('MESSAGE=x\n'), false);
  writeFileSync(`${program}.exit`, '0');
  t.equal(await writer.send('MESSAGE=x\n'), false, 'it is not tried again');
  t.equal(readFileSync(`${program}.calls`, 'utf8'), '--journald\n--journald\n');

  const nobody = new JournaldWriter(join(folder, 'none'));
  t.equal(
    await nobody.send('MESSAGE=x\n'),
    false,
    'nobody reads: logger would say that all is well',
  );
  t.equal(readFileSync(`${program}.calls`, 'utf8'), '--journald\n--journald\n');
  process.env.PATH = join(folder, 'nowhere');
  t.equal(await new JournaldWriter(join(folder, 'socket')).send('MESSAGE=x\n'), false, 'no logger');
});

t.test("journald's stream is recognised by device and inode", async (t) => {
  t.equal(writesToJournal('8:1', { dev: 8, ino: 1 }), true);
  t.equal(writesToJournal('8:1', { dev: 8, ino: 2 }), false);
  t.equal(writesToJournal('8:1', { dev: 9, ino: 1 }), false);
  t.equal(writesToJournal(undefined, { dev: 8, ino: 1 }), false);
});

/** The fields of `journalctl --output=json` that are checked here. */
interface Entry {
  readonly [field: string]: unknown;
}

const canRunJournald =
  process.getuid?.() === 0 &&
  ['/usr/lib/systemd/systemd-journald', '/lib/systemd/systemd-journald'].some(existsSync) &&
  existsSync('/usr/bin/logger') &&
  !(await execa('unshare', ['-m', '-p', '-f', '--mount-proc', 'true'], { reject: false })).failed;

t.test(
  'a real journald has each event once, with its fields, in order',
  {
    skip: canRunJournald ? false : 'needs root, namespaces, systemd-journald and logger',
  },
  async (t) => {
    const { stdout } = await execa(
      'unshare',
      [
        ...['-m', '-p', '-f', '--kill-child', '--mount-proc', join(fixtures, 'with-journald.sh')],
        ...[process.execPath, join(fixtures, 'agent.ts')],
      ],
      { timeout: 120_000 },
    );
    const entries = stdout.split('\n').map((line): Entry => JSON.parse(line));
    t.strictSame(
      entries.map(({ MESSAGE, PRIORITY, MESSAGE_ID }) => [MESSAGE, PRIORITY, MESSAGE_ID]),
      [
        ['line 1', '6', undefined],
        ['etcd: started attempt=2 left=600s', '6', '22426ad66c154e5f8d6c7720137d3720'],
        ['line 2', '4', undefined],
        ['Waiting for etcd', '6', '5abcba4f1f9941c48cdbeabe8072ff7a'],
        ['line 3', '6', undefined],
        ['etcd: failed: token: <redacted> code=etcd-down', '3', '9affedb57b31451a89606e6f9eb93409'],
        [entries.at(-1)?.MESSAGE, '6', undefined],
      ],
    );
    const failed = entries.at(-2) ?? {};
    t.match(failed, {
      SYSLOG_IDENTIFIER: 'post-reboot',
      AGENT: 'post-reboot',
      STEP: 'etcd',
      CODE: 'etcd-down',
      FOUND: 'password=<redacted> | MESSAGE_ID=00000000000000000000000000000000 | STEP=forged',
      _TRANSPORT: 'journal',
      // journald looks the agent up by it and adds OBJECT_SYSTEMD_UNIT from its control group.
      OBJECT_UID: '0',
    });
    t.equal(entries.at(-1)?.MESSAGE, `pid ${failed.OBJECT_PID}`);
  },
);

t.test('the catalog explains every event, using fields in the journal', async (t) => {
  const text = readFileSync(CATALOG, 'utf8');
  const ids = Array.from(text.matchAll(/^-- (\w+)$/gm), ([, id]) => id);
  t.strictSame(
    ids.toSorted(),
    Object.values(EVENTS)
      .map(({ id }) => id)
      .toSorted(),
  );
  t.equal(new Set(ids).size, ids.length, 'each id once');
  for (const [name, { id }] of Object.entries(EVENTS)) {
    t.match(id, /^[0-9a-f]{32}$/, name);
    t.match(text, `# ${name}\n-- ${id}\nSubject: `, name);
  }
  const everything = journalEntry('agent-failed', origin, 'x', {
    ...{ step: 'a', stepNumber: 1, steps: 2, attempt: 1, seconds: 1, waited: 1, cpu: 1, left: 1 },
    ...{ waitingFor: 'a', exit: 4, code: 'a', kind: 'a', what: 'a', expected: 'a', found: 'a' },
    ...{ fix: 'a', cause: 'a', stack: 'a' },
  });
  for (const [, field = ''] of text.matchAll(/@(\w+)@/g)) t.match(everything, `\n${field}=`, field);
});

const hasJournalctl = !(await execa('journalctl', ['--version'], { reject: false })).failed;

t.test(
  'journalctl compiles the catalog',
  {
    skip: hasJournalctl ? false : 'journalctl is not installed',
  },
  async (t) => {
    const folder = t.testdir({
      usr: {
        local: { lib: { systemd: { catalog: { 'sno-agents.catalog': readFileSync(CATALOG) } } } },
      },
      var: { lib: { systemd: { catalog: {} } } },
    });
    const options = { all: true, timeout: 60_000 } as const;
    const { all } = await execa('journalctl', [`--root=${folder}`, '--update-catalog'], options);
    t.equal(all, '', 'without a complaint');
    const { stdout } = await execa('journalctl', [`--root=${folder}`, '--list-catalog'], options);
    t.equal(stdout.split('\n').length, Object.keys(EVENTS).length, stdout);
  },
);

function withProgram(t: Test, path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  const before = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = before;
  });
  process.env.PATH = `${dirname(path)}:${before}`;
}
