import t from 'tap';
import { readDiskUse } from '../../../lib/host/disk-use.ts';
import { refuseDisk } from '../../../lib/installation/disk-refusal.ts';
import { kernelTree } from './kernel-tree.ts';
import { refusals } from './refusals.ts';

for (const [name, { host, device, path = '/dev/sda', says }] of Object.entries(refusals)) {
  t.test(`${says === undefined ? 'may be written' : 'is refused'}: ${name}`, async (t) => {
    const paths = kernelTree(t.testdir(), host);
    const use = await readDiskUse(paths, device ?? path, path);
    const refusal = use && refuseDisk(device ?? path, use);
    t.ok(use, 'the kernel knows the device');
    t.equal(refusal?.kind, says === undefined ? undefined : 'fatal');
    for (const text of says ?? []) t.match(refusal?.message, text);
  });
}

t.test('a device that the kernel does not know', async (t) => {
  const paths = kernelTree(t.testdir(), { devices: {} });
  t.equal(await readDiskUse(paths, '/dev/sda', '/dev/sda'), undefined);
});
