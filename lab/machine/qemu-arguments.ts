import { join } from 'node:path';
import type { Accelerator } from './accelerator.ts';

/** Ports between the machine and the lab; in the guest, `/dev/virtio-ports/NAME`. */
export const PORTS = {
  /** Of qemu's guest agent. */
  agent: 'org.qemu.guest_agent.0',
  /** Of the server of the guest's files. */
  files: 'sno-lab.files',
  /** The guest writes its journal to it. */
  journal: 'sno-lab.journal',
  /** The guest writes to it what would be gone with it, an archive of tar. */
  kept: 'sno-lab.kept',
} as const;

/** Names of sockets and files in the machine's folder. */
export const IN_FOLDER = {
  monitor: 'qmp.sock',
  agent: 'agent.sock',
  files: 'files.sock',
  console: 'console.sock',
  shell: 'shell.sock',
  kept: 'kept.tar',
} as const;

export type Firmware =
  /**
   * OVMF; `variables` is the machine's own copy of its variables, such as the boot order. With Secure Boot (`isSecure`), only
   * the firmware itself can write them, in system management mode.
   */
  | {
      readonly kind: 'uefi';
      readonly code: string;
      readonly variables: string;
      readonly isSecure: boolean;
    }
  | { readonly kind: 'bios' }
  /** Without a boot loader: qemu loads the kernel itself. */
  | {
      readonly kind: 'kernel';
      readonly kernel: string;
      readonly initramfs: string;
      readonly args: string;
    };

export interface MachineDisk {
  /** Unix socket of the server of the disk. */
  readonly socket: string;
  /** In the guest, `/dev/disk/by-id/virtio-SERIAL`. */
  readonly serial: string;
}

export interface QemuOptions {
  readonly name: string;
  readonly accelerator: Accelerator;
  readonly memoryMiB: number;
  readonly processors: number;
  readonly firmware: Firmware;
  readonly disks: readonly MachineDisk[];
  /** ISO in the drive. Without one the drive is empty. */
  readonly cd?: string | undefined;
  readonly network: { readonly tap: string; readonly mac: string };
  /** Default: false. */
  readonly networkBoot?: boolean | undefined;
  /** Of the machine's own clock, in UTC, as qemu writes it: `2027-11-23T10:00:00`. Default: now. */
  readonly clock?: string | undefined;
  /** Unix socket of the control channel of a swtpm. */
  readonly tpm?: string | undefined;
  /** Whether it has an adapter for a screen. Without one the kernel writes no pixels. Default: false. */
  readonly screen?: boolean | undefined;
  /** For its sockets. */
  readonly folder: string;
  readonly consoleLog: string;
  readonly journalLog: string;
}

/** Names of devices that the lab changes while the machine runs. */
export const DEVICES = { cdDrive: 'cd-drive', usb: 'usb', network: 'network' } as const;

/**
 * The command line of qemu. No device has a boot index: the firmware boots what its own variables say, and what the
 * system in the guest has written into them.
 */
export function qemuArguments(options: QemuOptions): string[] {
  const { name, accelerator, memoryMiB, processors, folder, consoleLog, clock, tpm } = options;
  const socket = (file: string) => `path=${join(folder, file)},server=on,wait=off`;
  return [
    ...['-name', name, '-nodefaults', '-no-user-config', '-display', 'none'],
    ...['-machine', 'q35', ...accelerated(accelerator)],
    ...['-smp', `${processors}`, '-m', `${memoryMiB}`],
    // The clock stands still while the machine does, as its deadlines do.
    ...['-rtc', `base=${clock ?? 'utc'},clock=vm`],
    ...firmwareArguments(options.firmware),
    ...['-qmp', `unix:${join(folder, IN_FOLDER.monitor)},server=on,wait=off`],
    ...[
      '-chardev',
      `socket,id=console,${socket(IN_FOLDER.console)},logfile=${consoleLog},logappend=on`,
    ],
    ...['-serial', 'chardev:console'],
    ...['-object', 'rng-random,id=rng,filename=/dev/urandom', '-device', 'virtio-rng-pci,rng=rng'],
    ...ports(options, socket),
    ...options.disks.flatMap(diskArguments),
    ...cdArguments(options.cd),
    ...['-device', `qemu-xhci,id=${DEVICES.usb}`],
    ...(options.screen === true ? ['-device', 'VGA'] : []),
    ...networkArguments(options),
    ...(tpm === undefined ? [] : tpmArguments(tpm)),
  ];
}

/**
 * TCG runs `rep movsb` byte by byte, and a kernel that sees ERMS clears and copies every page with it: without, page
 * faults and reads of files take a quarter of the time. Where Node sees protection keys, it changes them around all
 * code that it compiles, and TCG forgets every address then. Without AVX2, OpenSSL and Go compute SHA-256 in half the time.
 */
const TCG_PROCESSOR = 'max,-erms,-pku,-avx2';

const accelerated = (accelerator: Accelerator): string[] =>
  accelerator === 'kvm'
    ? ['-accel', 'kvm', '-cpu', 'host']
    : ['-accel', 'tcg,thread=multi,tb-size=512', '-cpu', TCG_PROCESSOR];

/** As OVMF's README has it. */
const SECURE_BOOT = [
  ...['-machine', 'smm=on'],
  ...['-global', 'driver=cfi.pflash01,property=secure,value=on'],
  ...['-global', 'ICH9-LPC.disable_s3=1'],
];

function firmwareArguments(firmware: Firmware): string[] {
  switch (firmware.kind) {
    case 'uefi':
      return [
        ...['-drive', `if=pflash,unit=0,format=raw,readonly=on,file=${firmware.code}`],
        ...['-drive', `if=pflash,unit=1,format=raw,file=${firmware.variables}`],
        ...(firmware.isSecure ? SECURE_BOOT : []),
      ];
    case 'bios':
      return [];
    case 'kernel':
      return ['-kernel', firmware.kernel, '-initrd', firmware.initramfs, '-append', firmware.args];
  }
}

function ports({ folder, journalLog }: QemuOptions, socket: (file: string) => string): string[] {
  const backends = [
    ['agent', `socket,${socket(IN_FOLDER.agent)}`],
    ['files', `socket,${socket(IN_FOLDER.files)}`],
    ['journal', `file,path=${journalLog},append=on`],
    ['kept', `file,path=${join(folder, IN_FOLDER.kept)}`],
  ] as const;
  return [
    ...['-device', 'virtio-serial-pci'],
    ...backends.flatMap(([port, backend]) => [
      ...['-chardev', backend.replace(',', `,id=${port},`)],
      ...['-device', `virtserialport,chardev=${port},name=${PORTS[port]}`],
    ]),
    // A terminal of its own for a shell: /dev/hvc0.
    ...['-chardev', `socket,id=shell,${socket(IN_FOLDER.shell)}`],
    ...['-device', 'virtconsole,chardev=shell'],
  ];
}

const errors = 'werror=report,rerror=report';

/**
 * Its cache is in the server: qemu passes on each write, and each flush. The guest sees every error, also that of a lab
 * without space; qemu would stop the machine for that one, and everything would wait.
 */
const diskArguments = ({ socket, serial }: MachineDisk): string[] => [
  ...['-blockdev', `driver=nbd,node-name=${serial},server.type=unix,server.path=${socket}`],
  ...['-device', `virtio-blk-pci,id=disk-${serial},drive=${serial},serial=${serial},${errors}`],
];

/** AHCI, as of a virtual CD of a management controller. */
const cdArguments = (iso: string | undefined): string[] => [
  ...(iso === undefined
    ? []
    : ['-blockdev', `driver=raw,node-name=cd,read-only=on,file.driver=file,file.filename=${iso}`]),
  ...['-device', `ide-cd,id=${DEVICES.cdDrive},bus=ide.0${iso === undefined ? '' : ',drive=cd'}`],
];

/**
 * The adapter's ROM is iPXE. Without it, OVMF has its own driver, and nothing waits for a boot server that is not
 * there.
 */
const networkArguments = ({ network: { tap, mac }, networkBoot }: QemuOptions): string[] => [
  ...['-netdev', `tap,id=${DEVICES.network},ifname=${tap},script=no,downscript=no`],
  ...[
    '-device',
    `virtio-net-pci,netdev=${DEVICES.network},mac=${mac}${networkBoot === true ? '' : ',romfile='}`,
  ],
];

const tpmArguments = (socket: string): string[] => [
  ...['-chardev', `socket,id=tpm,path=${socket}`, '-tpmdev', 'emulator,id=tpm0,chardev=tpm'],
  ...['-device', 'tpm-crb,tpmdev=tpm0'],
];
