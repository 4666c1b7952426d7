import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { readDisk } from '../../../lib/host/disk.ts';
import { bad, type Check, good } from './check.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** Certificates made with a wrong clock are not valid once it is right. */
export const clockCheck: Check = {
  name: 'clock',
  run: async ({ paths }) => {
    const pem = await readFile(`${paths.assetsTls}/admin-ca.crt`, 'utf8');
    const { validFrom, validTo } = new X509Certificate(pem);
    const now = new Date();
    const fix = 'Set the clock, or make NTP servers reachable.';
    if (now < new Date(validFrom)) {
      return bad(`the clock says ${now.toISOString()}, before the Ignition was made`, fix);
    }
    if (now > new Date(validTo)) {
      return bad(
        `the clock says ${now.toISOString()}, after the certificates of the Ignition end`,
        fix,
      );
    }
    return good(`the clock says ${now.toISOString()}`);
  },
};

export const memoryCheck: Check = {
  name: 'memory',
  run: async ({ settings }) => {
    const mib = Math.floor(totalmem() / MIB);
    return mib >= settings.minMemoryMiB
      ? good(`${mib} MiB of memory`)
      : bad(
          `${mib} MiB of memory, at least ${settings.minMemoryMiB} MiB are needed`,
          'Give the host more memory.',
        );
  },
};

export const diskCheck: Check = {
  name: 'disk',
  run: async ({ cluster, settings, signal }) => {
    const wanted = cluster.installation.disk;
    const fix = 'Name a free whole disk in bootstrapInPlace.installationDisk.';
    const disk = await readDisk(wanted, signal);
    if (disk.type === 'part') return bad(`${wanted} is a partition, not a disk`, fix);
    const mounted = [disk, ...(disk.children ?? [])].flatMap(({ path, mountpoints }) =>
      mountpoints.filter((point) => point !== null).map((point) => `${path} on ${point}`),
    );
    if (mounted.length > 0)
      return bad(`${wanted} is in use: ${mounted.join(', ')} is mounted`, fix);
    const gib = Math.floor(disk.size / GIB);
    return gib >= settings.minDiskGiB
      ? good(`the disk ${wanted} is ${disk.path} with ${gib} GiB`)
      : bad(`${wanted} has ${gib} GiB, at least ${settings.minDiskGiB} GiB are needed`, fix);
  },
};
