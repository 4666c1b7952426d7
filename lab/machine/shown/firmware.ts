import { Failure } from '../../../lib/base/errors/failure.ts';
import { type BootVariables, parseEfibootmgr } from '../../../lib/host/boot-order/efibootmgr.ts';
import type { Host } from '../../host/host.ts';
import { onHost } from '../../host/on-host.ts';
import { KERNEL_ARGUMENT } from '../../site-inputs.ts';

type Runs = Pick<Host, 'exec'>;

/** What the firmware has in its variables, as the system on the host reads them. */
async function bootVariables(host: Runs, signal: AbortSignal): Promise<BootVariables> {
  return parseEfibootmgr(await onHost(host, ['efibootmgr', '-v'], signal));
}

/** The firmware has booted the disk by the entry that the installation has made, though the medium is in the drive. */
export async function requireBootedFromDisk(host: Runs, signal: AbortSignal): Promise<string> {
  const { current, order, entries } = await bootVariables(host, signal);
  const entry = entries.find(({ number }) => number === current);
  if (entry?.target !== undefined && order[0] === current) {
    return `Boot${current} "${entry.label}", ${entry.target.loader}`;
  }
  throw new Failure(
    'fatal',
    'the firmware has not booted the first entry of its order, a loader on the disk',
    {
      expected: `Boot${order[0]}`,
      found: `Boot${current} ${JSON.stringify(entry)}; the order is ${order.join(', ')}`,
    },
  );
}

const SECURE_BOOT = 'SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c';
const LOCKDOWN = '/sys/kernel/security/lockdown';

/** The firmware has booted only what is signed, and the kernel lets nobody change it. */
export async function requireSecureBoot(host: Runs, signal: AbortSignal): Promise<string> {
  const variable = ['od', '-An', '-t', 'u1', `/sys/firmware/efi/efivars/${SECURE_BOOT}`];
  // Four bytes of attributes, then the value.
  const isOn = (await onHost(host, variable, signal)).endsWith(' 1');
  const lockdown = await onHost(host, ['cat', LOCKDOWN], signal);
  if (isOn && lockdown.includes('[integrity]')) return lockdown;
  throw new Failure('fatal', 'the machine has not booted by Secure Boot', {
    expected: 'SecureBoot 1, and a kernel locked down for its integrity',
    found: `SecureBoot ${isOn ? 1 : 0}, ${lockdown}`,
  });
}

/** The kernel has got what the site wants, and nothing of the live system. */
export async function requireArguments(host: Runs, signal: AbortSignal): Promise<string> {
  const found = await onHost(host, ['cat', '/proc/cmdline'], signal);
  const words = found.split(/\s+/);
  const isRight =
    words.includes(KERNEL_ARGUMENT) &&
    words.includes('ignition.platform.id=metal') &&
    !words.some((word) => word.startsWith('coreos.liveiso'));
  if (isRight) return found;
  throw new Failure('fatal', 'the kernel has other arguments', {
    expected: `${KERNEL_ARGUMENT} ignition.platform.id=metal, without coreos.liveiso`,
    found,
  });
}

/** From now on, the firmware boots the medium once, as a person chooses it in the boot menu. */
export async function bootMediumNext(host: Runs, signal: AbortSignal): Promise<void> {
  const { entries } = await bootVariables(host, signal);
  const drive = entries.find(({ label }) => /DVD|CDROM|CD-ROM/i.test(label));
  if (drive === undefined) {
    throw new Failure('fatal', 'the firmware has no entry of its drive', {
      found: entries.map(({ number, label }) => `Boot${number} ${label}`).join(', '),
    });
  }
  await onHost(host, ['efibootmgr', '--bootnext', drive.number], signal);
}
