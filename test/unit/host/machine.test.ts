import { readFileSync } from 'node:fs';
import fsp from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { hostArchitecture } from '../../../lib/host/architecture.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import { cgroupVersion } from '../../../lib/host/cgroup.ts';
import { kubeletIsOnOverlay } from '../../../lib/host/root.ts';
import { captureBuiltins } from './builtins.ts';

t.test('the architecture is named as in container images', async (t) => {
  const table = { x64: 'amd64', arm64: 'arm64', riscv64: undefined };
  for (const [arch, expected] of Object.entries(table)) {
    await t.test(arch, async (t) => {
      t.intercept(process, 'arch', { value: arch });
      t.equal(hostArchitecture(), expected);
    });
  }
});

t.test('the boot, and the seconds since', async (t) => {
  const uptime = () => Number.parseFloat(readFileSync('/proc/uptime', 'utf8'));
  const before = uptime();
  const { boot, up } = await bootMoment();
  t.equal(`${boot}\n`, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  t.ok(before <= up && up <= uptime(), `${up} s`);
});

t.test('the version of cgroup', async (t) => {
  // The magic numbers of statfs(2): on version 1, and on hybrid, it is a tmpfs with a folder for each controller.
  const table = { cgroup2fs: [0x63677270, 2], tmpfs: [0x01021994, 1] } as const;
  for (const [name, [type, expected]] of Object.entries(table)) {
    await t.test(name, async (t) => {
      captureBuiltins(t, () => {
        t.capture(fsp, 'statfs', async (path: string) => {
          t.equal(path, '/sys/fs/cgroup');
          return { type };
        });
      });
      t.equal(await cgroupVersion(), expected);
    });
  }
});

t.test(
  "the kubelet's folder on an overlay, as in a live image, and / on one, as with composefs",
  async (t) => {
    // The magic numbers of statfs(2).
    const [OVERLAY, XFS] = [0x794c7630, 0x58465342];
    const folder = t.testdir({ there: {} });
    for (const [name, types, expected] of [
      ['a live image', { '/': OVERLAY, [folder]: OVERLAY }, true],
      ['composefs', { '/': OVERLAY, [folder]: XFS }, false],
      ['a plain root', { '/': XFS, [folder]: XFS }, false],
    ] as const) {
      await t.test(name, async (t) => {
        const { statfs } = fsp;
        captureBuiltins(t, () => {
          t.capture(fsp, 'statfs', async (path: string) => {
            const found = await statfs(path);
            return Object.assign(found, { type: types[path === '/' ? '/' : folder] });
          });
        });
        for (const kubelet of [join(folder, 'there'), join(folder, 'not/yet')]) {
          t.equal(await kubeletIsOnOverlay({ kubelet }), expected, kubelet);
        }
      });
    }
  },
);
