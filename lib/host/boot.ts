import { readFile } from 'node:fs/promises';
import type { BootMoment } from './boot-moment.ts';

/** The boot id and the seconds since that boot: a clock that nobody can set. */
export async function bootMoment(): Promise<BootMoment> {
  const [boot, uptime] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    readFile('/proc/uptime', 'utf8'),
  ]);
  return { boot: boot.trim(), up: Number(uptime.split(' ')[0]) };
}
