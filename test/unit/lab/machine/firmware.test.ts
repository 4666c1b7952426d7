import t from 'tap';
import {
  bootMediumNext,
  requireArguments,
  requireBootedFromDisk,
  requireSecureBoot,
} from '../../../../lab/machine/shown/firmware.ts';
import { KERNEL_ARGUMENT } from '../../../../lab/site-inputs.ts';

const { signal } = new AbortController();
const DISK = 'HD(2,GPT,6c1c8a7e-2c5e-4d5b-9d8a-0f6f5f1f5d11,0x1000,0x3f800)';

/** What efibootmgr prints on a machine with OVMF. */
const variables = (current: string, order: string) =>
  [
    `BootCurrent: ${current}`,
    `BootOrder: ${order}`,
    'Boot0001* UEFI QEMU DVD-ROM QM00001 \tPciRoot(0x0)/Pci(0x1f,0x2)/Sata(0,65535,0)N.....YM....R,Y.',
    `Boot0004* Debian\t${DISK}/File(\\EFI\\debian\\shimx64.efi)`,
  ].join('\n');

const hostThatPrints = (stdout: string) => {
  const commands: (readonly string[])[] = [];
  return {
    commands,
    exec: async (argv: readonly string[]) => {
      commands.push(argv);
      return { stdout, stderr: '', exitCode: 0 };
    },
  };
};

t.test('booted by the first entry, a loader on the disk', async (t) => {
  const host = hostThatPrints(variables('0004', '0004,0001'));
  t.match(await requireBootedFromDisk(host, signal), /^Boot0004 "Debian", \\EFI\\debian/);
});

for (const [current, order] of [
  ['0001', '0001,0004'],
  ['0004', '0001,0004'],
] as const) {
  t.test(`not with Boot${current} and the order ${order}`, async (t) => {
    const host = hostThatPrints(variables(current, order));
    const found = {
      message: new RegExp(`Boot${current}.*the order is ${order.replace(',', ', ')}`),
    };
    await t.rejects(requireBootedFromDisk(host, signal), found);
  });
}

t.test("the medium is booted by the drive's own entry", async (t) => {
  const host = hostThatPrints(variables('0004', '0004,0001'));
  await bootMediumNext(host, signal);
  t.same(host.commands.at(-1), ['efibootmgr', '--bootnext', '0001']);
});

t.test("Secure Boot is the firmware's word and the kernel's", async (t) => {
  const hostWith = (variable: string, lockdown: string) => ({
    exec: async ([program]: readonly string[]) => ({
      ...{ stderr: '', exitCode: 0, stdout: program === 'od' ? variable : lockdown },
    }),
  });
  const [on, off] = ['   6   0   0   0   1\n', '   6   0   0   0   0\n'];
  const [isLocked, isOpen] = ['none [integrity] confidentiality\n', '[none] integrity\n'];
  await requireSecureBoot(hostWith(on, isLocked), signal);
  for (const [variable, lockdown] of [
    [off, isLocked],
    [on, isOpen],
  ] as const) {
    const refused = { message: /not booted by Secure Boot/ };
    await t.rejects(requireSecureBoot(hostWith(variable, lockdown), signal), refused);
  }
});

const arguments_ = `BOOT_IMAGE=/vmlinuz root=LABEL=root rw ignition.platform.id=metal ${KERNEL_ARGUMENT}`;

t.test("the kernel has the site's argument, and not those of a live system", async (t) => {
  await requireArguments(hostThatPrints(arguments_), signal);
  for (const others of [
    arguments_.replace(KERNEL_ARGUMENT, ''),
    arguments_.replace('ignition.platform.id=metal', ''),
    `${arguments_} coreos.liveiso=sno-lab-live`,
  ]) {
    await t.rejects(requireArguments(hostThatPrints(others), signal), {
      message: /other arguments/,
    });
  }
});
