import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { journals, previousJournals } from '../../../../agents/gather/sources/journals.ts';
import { hostAt, listed, read } from '../../../unit/gather/sources/host.ts';
import { withPrograms } from '../../../unit/gather/sources/programs.ts';

/** Creates journal files from text. */
const REMOTE = '/usr/lib/systemd/systemd-journal-remote';
const JOURNALCTL = '/usr/bin/journalctl';
const OURS = 'control-plane/master';
const boots = ['a'.repeat(32), 'b'.repeat(32)];

interface Entry {
  readonly boot: 0 | 1;
  readonly unit: string;
  readonly message: string;
  readonly priority: number;
}

const entries: readonly Entry[] = [
  { boot: 0, unit: 'kubelet.service', message: 'before the reboot', priority: 6 },
  { boot: 0, unit: 'kubelet.service', message: 'the last words', priority: 3 },
  { boot: 1, unit: 'kubelet.service', message: 'after the reboot', priority: 6 },
  { boot: 1, unit: 'sno-restore.service', message: '\u001b[31mcoloured\u001b[0m', priority: 3 },
  { boot: 1, unit: 'cron.service', message: `long ${'x'.repeat(6000)}`, priority: 2 },
];

/** The journal export format: one field per line, with a 64-bit length if it is not plain text. */
function exported({ boot, unit, message, priority }: Entry, at: number): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(message)));
  const fields = [
    `__REALTIME_TIMESTAMP=${1_772_366_400_000_000 + at * 1_000_000}`,
    `__MONOTONIC_TIMESTAMP=${at * 1_000_000}`,
    `_BOOT_ID=${boots[boot]}`,
    `_MACHINE_ID=${'c'.repeat(32)}`,
    `_SYSTEMD_UNIT=${unit}`,
    `SYSLOG_IDENTIFIER=${unit.replace('.service', '')}`,
    `PRIORITY=${priority}`,
  ];
  return Buffer.concat([
    Buffer.from(`${fields.join('\n')}\nMESSAGE\n`),
    length,
    Buffer.from(`${message}\n\n`),
  ]);
}

const isHere = existsSync(REMOTE) && existsSync(JOURNALCTL);

t.test('a real journal', { skip: isHere ? false : 'no systemd-journal-remote' }, async (t) => {
  const root = t.testdir({});
  await writeFile(join(root, 'in.export'), Buffer.concat(entries.map(exported)));
  await mkdir(join(root, 'journal'));
  const output = `--output=${join(root, 'journal/system.journal')}`;
  await execa(REMOTE, [output, '--split-mode=none', join(root, 'in.export')], { timeout: 20_000 });
  await withPrograms(t, join(root, 'bin'), {
    journalctl: `exec ${JOURNALCTL} --directory='${join(root, 'journal')}' "$@"`,
    systemctl: 'exit 1',
  });
  const host = hostAt(root, root);
  const text = (path: string) => read(journals, host, `${OURS}/journals/${path}`);
  const paths = [...(await listed(journals, host)).keys()];
  t.notOk(paths.includes(`${OURS}/journals/cron.log`), 'nobody asks for this one');
  t.match(
    await text('kubelet.log'),
    /^2026-03-01T12:00:02\.000000\+0000 kubelet: after the reboot\n$/,
  );
  t.match(await text('sno-restore.log'), '\u001b[31mcoloured', 'not left out as "blob data"');
  const errors = (await text('errors.jsonl')).trim().split('\n');
  t.match(
    errors.map((line) => JSON.parse(line)),
    [
      { MESSAGE: '\u001b[31mcoloured\u001b[0m', _SYSTEMD_UNIT: 'sno-restore.service' },
      { MESSAGE: /^long x{6000}$/, PRIORITY: '2', __REALTIME_TIMESTAMP: '1772366404000000' },
    ],
  );
  t.match(JSON.parse(await text('previous-errors.jsonl')), { MESSAGE: 'the last words' });
  const earlier = `${OURS}/journals/journal-1.log.gz`;
  t.strictSame([...(await listed(previousJournals, host)).keys()], [earlier]);
  t.equal((await read(previousJournals, host, earlier)).split('\n').length, 3);
});
