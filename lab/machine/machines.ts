import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import type { HostOptions } from '../host/host.ts';
import type { Hosts } from '../host/hosts.ts';
import type { Accelerator } from './accelerator.ts';
import { bootMachine } from './boot-machine.ts';
import type { Firmware } from './qemu-arguments.ts';

/** Of Debian's package ovmf. */
const OVMF = {
  code: '/usr/share/OVMF/OVMF_CODE_4M.fd',
  variables: '/usr/share/OVMF/OVMF_VARS_4M.fd',
};

/** With Secure Boot on, and the keys of Microsoft, who has signed Debian's shim. */
const SECURE_OVMF = {
  code: '/usr/share/OVMF/OVMF_CODE_4M.secboot.fd',
  variables: '/usr/share/OVMF/OVMF_VARS_4M.ms.fd',
};

export type FirmwareKind = 'uefi' | 'bios';

export interface MachinesOptions {
  readonly accelerator: Accelerator;
  readonly firmware: FirmwareKind;
}

/**
 * Hosts as machines, which boot what their firmware finds. The ISO of an installation stays in the drive: a machine boots
 * from its disk because the installation has said so to the firmware. A BIOS cannot be told; there, the ISO is taken out.
 */
export const machines = ({ accelerator, firmware }: MachinesOptions): Hosts => ({
  are: 'machines',
  mediumStays: firmware === 'uefi',
  bootLive: async ({ iso, programs = [], ...options }, signal) => {
    const hasBoot = iso !== undefined || options.hardware?.networkBoot === true;
    if (!hasBoot || programs.length > 0) {
      throw new Failure('usage', 'this scenario boots a live host that has no ISO of its own', {
        fix: 'Run it without --machine vm',
      });
    }
    const machine = { accelerator, firmware: await firmwareOf(firmware, options), cd: iso };
    return bootMachine({ ...options, ...machine }, signal);
  },
  bootDisk: async ({ iso, ...options }, signal) => {
    const cd = firmware === 'bios' ? undefined : iso;
    const machine = { accelerator, firmware: await firmwareOf(firmware, options), cd };
    return bootMachine({ ...options, ...machine }, signal);
  },
});

/** With the variables of the machine that the disk is in, which outlive each boot as the disk does. */
async function firmwareOf(
  kind: FirmwareKind,
  { disk, folder, hardware }: HostOptions,
): Promise<Firmware> {
  if (kind === 'bios') return { kind };
  const isSecure = hardware?.secureBoot === true;
  const ovmf = isSecure ? SECURE_OVMF : OVMF;
  const variables = join(disk === undefined ? folder : dirname(disk.file), 'firmware-variables.fd');
  if (!(await exists(variables))) await copyFile(ovmf.variables, variables);
  return { kind, code: ovmf.code, variables, isSecure };
}
