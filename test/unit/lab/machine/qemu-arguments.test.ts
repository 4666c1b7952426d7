import t from 'tap';
import { type QemuOptions, qemuArguments } from '../../../../lab/machine/qemu-arguments.ts';

const options: QemuOptions = {
  name: 'sno',
  accelerator: 'tcg',
  memoryMiB: 4096,
  processors: 2,
  firmware: { kind: 'uefi', code: '/code.fd', variables: '/variables.fd', isSecure: false },
  disks: [{ socket: '/run/disk.sock', serial: 'sno-disk' }],
  cd: '/live.iso',
  network: { tap: 'p-sno', mac: '52:54:00:00:00:0a' },
  folder: '/machine',
  consoleLog: '/out/console.log',
  journalLog: '/out/journal.log',
};
const line = (changed: Partial<QemuOptions> = {}) =>
  qemuArguments({ ...options, ...changed }).join(' ');

t.test('the firmware alone decides what is booted', async (t) => {
  for (const cd of ['/live.iso', undefined]) t.notMatch(line({ cd }), /bootindex|-boot/);
});

t.test('the disk has the name that installations are told, and a server of its own', async (t) => {
  t.match(line(), 'driver=nbd,node-name=sno-disk,server.type=unix,server.path=/run/disk.sock');
  t.match(line(), 'virtio-blk-pci,id=disk-sno-disk,drive=sno-disk,serial=sno-disk');
  t.match(line(), 'werror=report,rerror=report', 'no error stops the machine');
  t.notMatch(line({ disks: [] }), 'virtio-blk');
});

t.test('an adapter has iPXE only on a machine that boots from the network', async (t) => {
  t.match(line(), 'virtio-net-pci,netdev=network,mac=52:54:00:00:00:0a,romfile=');
  t.notMatch(line({ networkBoot: true }), 'romfile');
});

t.test('only a machine with a screen draws one', async (t) => {
  t.notMatch(line(), 'VGA');
  t.match(line({ screen: true }), '-device VGA');
});

t.test('the drive is there without a medium, too', async (t) => {
  t.match(line(), 'ide-cd,id=cd-drive,bus=ide.0,drive=cd');
  const empty = line({ cd: undefined });
  t.match(empty, 'ide-cd,id=cd-drive,bus=ide.0');
  t.notMatch(empty, 'drive=cd');
});

t.test('only the variables of the firmware are written', async (t) => {
  t.match(line(), 'unit=0,format=raw,readonly=on,file=/code.fd');
  t.match(line(), 'unit=1,format=raw,file=/variables.fd');
  t.notMatch(line({ firmware: { kind: 'bios' } }), 'pflash');
});

t.test('with Secure Boot, nobody but the firmware writes its variables', async (t) => {
  const uefi = { kind: 'uefi', code: '/code.fd', variables: '/variables.fd' } as const;
  const only = /smm=on.*driver=cfi.pflash01,property=secure,value=on/;
  t.match(line({ firmware: { ...uefi, isSecure: true } }), only);
  t.notMatch(line({ firmware: { ...uefi, isSecure: false } }), /smm=on|property=secure/);
});

t.test('the clock is that of the machine, and stands still with it', async (t) => {
  t.match(line(), '-rtc base=utc,clock=vm');
  t.match(line({ clock: '2027-11-23T10:00:00' }), '-rtc base=2027-11-23T10:00:00,clock=vm');
});

t.test('a machine has a TPM only if there is one', async (t) => {
  t.match(line({ tpm: '/tpm.sock' }), 'path=/tpm.sock');
  t.notMatch(line(), 'tpm-crb');
});

t.test('every port of the guest has its own end in the lab', async (t) => {
  for (const port of [
    'org.qemu.guest_agent.0',
    'sno-lab.files',
    'sno-lab.journal',
    'sno-lab.kept',
  ]) {
    t.match(line(), `name=${port}`);
  }
  t.match(line(), 'file,id=journal,path=/out/journal.log,append=on');
});
