import t from 'tap';
import { judgeSize, spaceOn } from '../../../agents/steps/preflight/machine.ts';
import { judgeDisk } from '../../../lib/cluster/installation/inspect.ts';
import { keptPartitions, requireKept } from '../../../lib/cluster/installation/kept-partitions.ts';
import type { Partition } from '../../../lib/host/disk.ts';

const partition = (number: number, partlabel: string | null): Partition => ({
  path: `/dev/sda${number}`,
  kname: `sda${number}`,
  type: 'part',
  size: 1e9,
  label: null,
  fstype: 'xfs',
  pttype: 'gpt',
  partlabel,
  parttype: null,
  partuuid: null,
  number,
  startBytes: number * 1e9,
});
const data = partition(5, 'data');
const disk = {
  fstype: null,
  pttype: 'gpt',
  size: 100e9,
  children: [
    partition(1, 'BIOS-BOOT'),
    partition(2, 'EFI-SYSTEM'),
    partition(4, 'root'),
    data,
    partition(6, 'data[1].a'),
    partition(7, null),
  ],
};

t.test('labels and indexes match as for coreos-installer', async (t) => {
  const table: [labels: string[], indexes: string[], kept: number[], unmatched: string[]][] = [
    [[], [], [], []],
    [['data'], [], [5], []],
    [['DATA'], [], [], ['label DATA']],
    [['dat'], [], [], ['label dat']],
    [['data*'], [], [5, 6], []],
    [['?ata'], [], [5], []],
    [['[a-d]ata'], [], [5], []],
    [['[!e]ata'], [], [5], []],
    [['[!d]ata'], [], [], ['label [!d]ata']],
    [['data[[]1[]].a'], [], [6], []],
    [['*.a'], [], [6], []],
    [['data.1..a'], [], [], ['label data.1..a']],
    [[''], [], [7], []],
    [['*'], [], [1, 2, 4, 5, 6, 7], []],
    [[], ['5'], [5], []],
    [[], ['3'], [], ['index 3']],
    [[], ['5-'], [5, 6, 7], []],
    [[], ['-2'], [1, 2], []],
    [[], ['2-5'], [2, 4, 5], []],
    [
      ['data', 'logs'],
      ['7', '9'],
      [5, 7],
      ['label logs', 'index 9'],
    ],
  ];
  for (const [labels, indexes, kept, unmatched] of table) {
    const found = keptPartitions(disk, { labels, indexes });
    const name = JSON.stringify([labels, indexes]);
    t.strictSame(
      found.kept.map(({ number }) => number),
      kept,
      name,
    );
    t.strictSame(found.unmatched, unmatched, name);
  }
});

t.test('partitions to be kept must exist', async (t) => {
  const filters = { labels: ['data', 'logs'], indexes: [] };
  const ask = (of: Parameters<typeof keptPartitions>[0]) => () =>
    requireKept('/dev/sda', of, keptPartitions(of, filters));
  t.throws(ask(disk), {
    kind: 'fatal',
    message:
      /not on \/dev\/sda; expected a partition for label logs; found partitions 1 \(BIOS-BOOT\), .*5 \(data\), .*7 \(no label\)\. Correct/,
  });
  t.throws(ask({ pttype: 'dos', children: disk.children }), {
    message: /a dos partition table, whose partitions cannot be kept/,
  });
  t.throws(ask({ pttype: null }), { message: /found no partition table/ });
  t.throws(ask({ pttype: 'gpt', children: [] }), { message: /found no partition\./ });
  const there = { labels: ['data'], indexes: ['-2'] };
  t.doesNotThrow(() => requireKept('/dev/sda', disk, keptPartitions(disk, there)));
});

t.test('kept partitions do not count as another system', async (t) => {
  const judge = (children: Partition[]) =>
    judgeDisk({ ...disk, children }, 'id', undefined, undefined, { kept: [data] });
  t.strictSame(judge([data]), { kind: 'only-kept', partitions: 'data' });
  t.strictSame(judge([partition(4, 'root'), data]), {
    kind: 'other-system',
    what: 'partitions root',
  });
});

t.test('the new system ends where the first kept partition begins', async (t) => {
  t.equal(spaceOn(disk, { labels: [], indexes: [] }), 100e9);
  t.equal(spaceOn(disk, { labels: ['data*'], indexes: [] }), 5e9);
  const need = { system: 8e9, payload: 1.2e9 };
  t.match(judgeSize('the disk /dev/sda', 9.2e9, need, 'fix'), {
    ok: true,
    fact: 'the disk /dev/sda has 9.2 GB',
  });
  t.match(judgeSize('the disk /dev/sda', 5e9, need, 'fix'), {
    ok: false,
    problem:
      'the disk /dev/sda is too small: expected 9.2 GB (8.0 GB for the system, 1.2 GB for the payload), found 5.0 GB',
  });
});

t.test('a table without names keeps nothing, whatever its partitions are called', async (t) => {
  const dos = { ...disk, pttype: 'dos' };
  const found = keptPartitions(dos, { labels: ['data'], indexes: ['5'] });
  t.strictSame(found, { kept: [], unmatched: ['label data', 'index 5'] });
  t.throws(() => requireKept('/dev/sda', dos, found), {
    kind: 'fatal',
    message: /found a dos partition table, whose partitions cannot be kept/,
  });
});
