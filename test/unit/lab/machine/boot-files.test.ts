import t from 'tap';
import { z } from 'zod';
import { coreosLayout } from '../../../../lab/components/coreos-layout.ts';
import {
  biosBootCode,
  biosModules,
  bootPartitionFiles,
  continueAt,
  INSTALLED_ARGUMENTS,
  LIVE_ARGUMENTS,
  liveBootLoaders,
  STATEROOT,
} from '../../../../lab/components/machine/boot-files.ts';
import { machinePartitions } from '../../../../lab/components/machine/os-image.ts';
import { parseJson } from '../../../../lib/base/json.ts';

const layout = coreosLayout(LIVE_ARGUMENTS, liveBootLoaders);
const text = (path: string) => layout.get(path) ?? '';

const kargs = z
  .object({
    default: z.string(),
    files: z.array(
      z.object({ path: z.string(), offset: z.number(), end: z.string(), pad: z.string() }),
    ),
    size: z.number(),
  })
  .parse(parseJson(text('coreos/kargs.json')));

/** What coreos-installer does: the arguments, an end, and padding in place of the area. */
function withArguments(path: string, replacement: string): string {
  const place = kargs.files.find((file) => file.path === path);
  if (place === undefined) throw new Error(`no room in ${path}`);
  const contents = text(path);
  const area = (replacement + place.end).padEnd(kargs.size, place.pad);
  return contents.slice(0, place.offset) + area + contents.slice(place.offset + kargs.size);
}

t.test('coreos-installer finds the arguments where it looks', async (t) => {
  t.equal(kargs.default, LIVE_ARGUMENTS);
  t.strictSame(
    kargs.files.map(({ path }) => path),
    ['EFI/debian/grub.cfg', 'isolinux/isolinux.cfg'],
  );
  for (const { path } of kargs.files) {
    t.equal(withArguments(path, LIVE_ARGUMENTS), text(path), `${path} as it is made`);
  }
});

t.test('arguments of any length leave the rest of a configuration as it is', async (t) => {
  const longest = 'x'.repeat(kargs.size - 1);
  for (const replacement of ['', 'ip=dhcp', longest]) {
    for (const { path, before, after } of liveBootLoaders) {
      const edited = withArguments(path, replacement);
      t.ok(edited.startsWith(`${before}${replacement}\n`), path);
      t.ok(edited.endsWith(after), path);
      const between = edited.slice(
        before.length + replacement.length,
        edited.length - after.length,
      );
      t.match(between, /^\n#*\n?$/, `${path} has a comment there`);
    }
  }
});

t.test('both boot loaders append the Ignition config to the initramfs', async (t) => {
  t.match(
    text('EFI/debian/grub.cfg'),
    /^ {2}initrd \/images\/pxeboot\/initrd\.img \/images\/ignition\.img$/m,
  );
  t.match(
    text('isolinux/isolinux.cfg'),
    /append initrd=\/images\/pxeboot\/initrd\.img,\/images\/ignition\.img coreos/,
  );
});

const grub = bootPartitionFiles.get('grub2/grub.cfg') ?? '';

t.test('the boot partition is what coreos-installer expects', async (t) => {
  t.match(INSTALLED_ARGUMENTS, /\$ignition_firstboot ignition\.platform\.id=metal/);
  t.equal(bootPartitionFiles.get('ignition.firstboot'), '', 'GRUB reads what is appended');
  t.match(grub, /\n# CONSOLE-SETTINGS-START\n([^\n]*\n)*# CONSOLE-SETTINGS-END\n/);
  const flag = grub.indexOf('ignition_firstboot="ignition.firstboot');
  t.ok(flag > 0 && flag < grub.indexOf('source "$entry"'), 'known when the entry is read');
});

t.test(
  'GRUB has a command for each line of an entry, and finds the files of its deployment',
  async (t) => {
    for (const key of ['title', 'version', 'options']) t.match(grub, `function ${key} {`);
    // The programs that it has anyway.
    for (const key of ['linux', 'initrd']) t.notMatch(grub, `function ${key} {`);
    const [, pattern = ''] = /regexp --set=1:files '(.*)' "\$arguments"/.exec(grub) ?? [];
    const checksum = 'd20a5d6b'.repeat(8);
    const found = new RegExp(pattern).exec(
      `rw ostree=/ostree/boot.1/${STATEROOT}/${checksum}/0 a=b`,
    );
    t.equal(found?.[1], checksum);
    t.ok(biosModules.includes('regexp'), 'by which GRUB knows patterns of files, too');
    t.equal(continueAt('boot', '/grub2/grub.cfg').split('\n')[1], 'configfile /grub2/grub.cfg');
  },
);

t.test('the boot sector loads the core image, and that the rest of itself', async (t) => {
  const start = machinePartitions['BIOS-BOOT'].startMiB * 1024 * 1024;
  const boot = Buffer.alloc(512, 0xaa);
  const core = Buffer.alloc(2048, 0xbb);
  const made = biosBootCode(boot, core, start);
  t.equal(made.bootCode.length, 440, 'the partition table stays');
  t.equal(made.bootCode.readBigUInt64LE(0x5c), 2048n);
  t.equal(made.core.readBigUInt64LE(500), 2049n);
  t.equal(boot.readBigUInt64LE(0x5c), 0xaaaaaaaaaaaaaaaan, 'what is given is not changed');
  t.strictSame(made.core.subarray(512), core.subarray(512));
});

t.test('the partitions follow each other as on CoreOS', async (t) => {
  const all = Object.entries(machinePartitions);
  t.strictSame(
    all.map(([label, { number }]) => [label, number]),
    [
      ['BIOS-BOOT', 1],
      ['EFI-SYSTEM', 2],
      ['boot', 3],
      ['root', 4],
    ],
  );
  let end = 1;
  for (const [label, { startMiB, sizeMiB }] of all) {
    t.equal(startMiB, end, label);
    end = startMiB + sizeMiB;
  }
});
