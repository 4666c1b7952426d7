import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import t, { type Test } from 'tap';
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
    if (says !== undefined) t.match(refusal?.code, /^disk-(in-use|unsuitable)$/);
    for (const text of says ?? []) t.match(refusal?.message, text);
  });
}

t.test('a device that the kernel does not know', async (t) => {
  const paths = kernelTree(t.testdir(), { devices: {} });
  t.equal(await readDiskUse(paths, '/dev/sda', '/dev/sda'), undefined);
});

/** What a device answers to an exclusive open. */
async function openedWith(t: Test, code: string, size?: number) {
  const devices = { sda: { number: '8:0', ...(size === undefined ? {} : { size }) } };
  const paths = kernelTree(t.testdir(), { devices });
  const { open } = fsp;
  t.capture(fsp, 'open', async (path: string, flags?: string | number) => {
    if (path === paths.at('/dev/sda')) throw Object.assign(new Error(code), { code });
    return open(path, flags);
  });
  syncBuiltinESMExports();
  t.teardown(() => syncBuiltinESMExports());
  return readDiskUse(paths, '/dev/sda', '/dev/sda');
}

t.test('a disk that is opened exclusively may become free', async (t) => {
  const use = await openedWith(t, 'EBUSY');
  t.strictSame(use?.uses, [{ device: '/dev/sda', by: 'unknown' }]);
  const refusal = use && refuseDisk('/dev/sda', use);
  t.match(refusal, { kind: 'retry', code: 'disk-in-use', details: { found: /EBUSY/ } });
});

t.test('a drive without a medium is not in use', async (t) => {
  const use = await openedWith(t, 'ENOMEDIUM', 0);
  t.strictSame(use?.uses, []);
  t.match(use && refuseDisk('/dev/sda', use), {
    kind: 'fatal',
    details: { found: 'a drive without a medium' },
  });
});

t.test('a device that cannot be opened is not a free disk', async (t) => {
  await t.rejects(openedWith(t, 'EIO'), { code: 'EIO' });
});
