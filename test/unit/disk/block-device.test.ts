import fsp from 'node:fs/promises';
import t, { type Test } from 'tap';
import {
  allBlockDevices,
  diskOfPartition,
  holdersOf,
  partitionNumber,
  partitionsOf,
  readBlockNode,
} from '../../../lib/host/block-device.ts';
import { captureBuiltins } from '../host/builtins.ts';
import { kernelTree } from './kernel-tree.ts';

const part = (number: string, partition: number) => ({
  number,
  size: 2,
  attributes: { partition: `${partition}`, start: '2048' },
});

/** A disk whose partitions have a different order by name than by number. */
const tree = (t: Test) =>
  kernelTree(t.testdir(), {
    devices: {
      sda: {
        number: '8:0',
        partitions: { sda10: part('8:10', 10), sda2: part('8:2', 2), sda1: part('8:1', 1) },
      },
      'dm-0': {
        number: '253:0',
        attributes: { 'dm/name': 'mpatha', 'dm/uuid': 'mpath-3600', ro: '1' },
        holders: ['dm-3', 'dm-2', 'dm-1', 'dm-8'],
      },
      'dm-1': { number: '253:1', attributes: { 'dm/uuid': 'LVM-part3-', 'dm/name': 'vg-lv' } },
      'dm-2': { number: '253:2', attributes: { 'dm/name': 'p1', 'dm/uuid': 'part1-mpath-3600' } },
      'dm-3': { number: '253:3', attributes: { 'dm/name': 'p12', 'dm/uuid': 'part12-mpath-3600' } },
      'dm-4': { number: '253:4', attributes: { 'dm/name': 'without-uuid' } },
      md0: { number: '9:0', attributes: { 'md/level': 'raid1', 'md/metadata_version': '1.2' } },
      md1: { number: '9:1', attributes: { 'md/metadata_version': 'external:imsm' } },
      loop0: { number: '7:0', attributes: { 'loop/backing_file': '/srv/a b' } },
    },
  });

t.test("the kernel's data for each kind of device", async (t) => {
  const paths = tree(t);
  const plain = { bytes: 2 ** 35, readOnly: false };
  const table = [
    { name: 'sda', number: '8:0', ...plain },
    {
      name: 'sda2',
      number: '8:2',
      bytes: 1024,
      readOnly: false,
      partition: { number: 2, startBytes: 2 ** 20 },
    },
    {
      name: 'dm-0',
      number: '253:0',
      ...plain,
      readOnly: true,
      mapper: { name: 'mpatha', uuid: 'mpath-3600' },
    },
    { name: 'dm-4', number: '253:4', ...plain, mapper: { name: 'without-uuid', uuid: '' } },
    { name: 'md0', number: '9:0', ...plain, array: { level: 'raid1', metadata: '1.2' } },
    { name: 'md1', number: '9:1', ...plain, array: { level: '', metadata: 'external:imsm' } },
    { name: 'loop0', number: '7:0', ...plain, backing: '/srv/a b' },
    undefined,
  ];
  for (const expected of table) {
    const name = expected?.name ?? 'sdz';
    t.strictSame(await readBlockNode(paths, name), expected, name);
  }
  t.same((await allBlockDevices(paths)).slice(-4), ['sda', 'sda1', 'sda10', 'sda2']);
});

t.test('partitions are those of the kernel or of kpartx, in table order', async (t) => {
  const paths = tree(t);
  const names = async (disk: string) => (await partitionsOf(paths, disk)).map(({ name }) => name);
  t.same(await names('sda'), ['sda1', 'sda2', 'sda10']);
  t.same(await names('dm-0'), ['dm-2', 'dm-3']);
  t.same(await names('md0'), []);
  t.same(await names('sdz'), []);
  t.same(await holdersOf(paths, 'dm-0'), ['dm-1', 'dm-2', 'dm-3', 'dm-8']);
  t.equal(await diskOfPartition(paths, 'sda10'), 'sda');
  const numbers = { sda: undefined, sda10: 10, 'dm-0': undefined, 'dm-1': undefined, 'dm-3': 12 };
  for (const [name, number] of Object.entries(numbers)) {
    const node = await readBlockNode(paths, name);
    t.equal(node && partitionNumber(node), number, name);
  }
});

t.test('a device that does not answer yields nothing; an error is reported', async (t) => {
  const answering = async (t: Test, answer: Error, file = 'ro') => {
    const paths = tree(t);
    const { readFile } = fsp;
    captureBuiltins(t, () => {
      t.capture(fsp, 'readFile', async (path: string, encoding: BufferEncoding) => {
        if (path.endsWith(`dm-0/${file}`)) throw answer;
        return readFile(path, encoding);
      });
    });
    return readBlockNode(paths, 'dm-0');
  };
  const unanswered: [file: string, node: object | undefined][] = [
    ['dm/name', { name: 'dm-0', readOnly: true, mapper: undefined }],
    ['size', { name: 'dm-0', bytes: 0 }],
    ['dev', undefined],
  ];
  for (const code of ['ENODEV', 'ENXIO', 'EINVAL', 'ENOENT', 'ENOTDIR']) {
    for (const [file, node] of unanswered) {
      await t.test(`${code} of ${file}`, async (t) => {
        const answer = Object.assign(new Error(code), { code });
        t.match(await answering(t, answer, file), node);
      });
    }
  }
  for (const error of [Object.assign(new Error('EIO'), { code: 'EIO' }), new Error('lost')]) {
    await t.test(error.message, (t) => t.rejects(answering(t, error), error));
  }
});
