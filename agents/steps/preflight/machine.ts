import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { keptPartitions } from '../../../lib/cluster/installation/kept-partitions.ts';
import type { InstallableCluster, Installation } from '../../../lib/config/cluster/cluster.ts';
import { parseCpuSet } from '../../../lib/host/cpu-set.ts';
import { type BlockDevice, findDisk, labelledElsewhere, readDisk } from '../../../lib/host/disk.ts';
import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { payloadSize } from '../../../lib/payload/size.ts';
import { kubeletTrust } from '../../../lib/render/kubernetes/kubelet.ts';
import { mediumPayload } from '../payload-folder.ts';
import { bad, type Check, type CheckInput, good, type PreflightFinding } from './check.ts';

const MIB = 2 ** 20;
const GB = 1e9;
const inGB = (bytes: number) => `${(bytes / GB).toFixed(1)} GB`;

/** The certificate of the Ignition config that expires first, by the kind of control plane. */
const FIRST_TO_EXPIRE = { kubernetes: 'admin-ca.crt', openshift: 'kubelet-signer.crt' } as const;

/** Certificates issued with a wrong clock are not valid once it is corrected. */
export const clockCheck: Check = clockCheckBy(
  ({ paths, cluster }) => `${paths.assetsTls}/${FIRST_TO_EXPIRE[cluster.controlPlane]}`,
);

/** The same on a worker, which has only the CA of the API server. */
export const workerClockCheck: Check = clockCheckBy(({ paths }) => paths.at(kubeletTrust.api));

function clockCheckBy(certificate: (input: CheckInput) => string): Check {
  return {
    name: 'clock',
    code: 'preflight-clock',
    run: async (input) => judgeClock(await readFile(certificate(input), 'utf8')),
  };
}

function judgeClock(pem: string): PreflightFinding {
  const { validFrom, validTo } = new X509Certificate(pem);
  const now = new Date();
  const fix = 'Set the clock, or make NTP servers reachable.';
  if (now < new Date(validFrom)) {
    return bad(`the clock shows ${now.toISOString()}, before the Ignition config was created`, fix);
  }
  if (now > new Date(validTo)) {
    return bad(
      `the clock shows ${now.toISOString()}, after the certificates in the Ignition config expire`,
      fix,
    );
  }
  return good(`the clock shows ${now.toISOString()}`);
}

export const memoryCheck: Check = {
  name: 'memory',
  code: 'preflight-memory',
  run: async ({ settings, paths }) => {
    const needed = { control: settings.minMemoryMiB * MIB, images: await imagesInMemory(paths) };
    if (needed.images === 0) return judgeMemory(totalmem(), Infinity, needed);
    const { bavail, bsize } = await statfs(paths.state);
    return judgeMemory(totalmem(), bavail * bsize, needed);
  },
};

/** CoreOS creates it on every live system. */
const LIVE = '/run/ostree-live';

/**
 * Bytes of images that the host has in its memory. The files of a live system of CoreOS are there, in a
 * file system of half of it: the images as they are imported and as they are unpacked, each about as
 * large as the payload, and what is decompressed. Before a payload is fetched, its size is not known.
 */
async function imagesInMemory(paths: HostPaths): Promise<number> {
  if (!(await exists(paths.at(LIVE)))) return 0;
  const { bytes, isCompressed } = await payloadSize(mediumPayload(paths));
  return (isCompressed ? 3 : 2) * bytes;
}

/** All in bytes; `free`: what the file system of the images has left. */
export function judgeMemory(
  total: number,
  free: number,
  { control, images }: { readonly control: number; readonly images: number },
): PreflightFinding {
  const mib = (bytes: number) => `${Math.floor(bytes / MIB)} MiB`;
  const fix = 'Give the host more memory.';
  const parts = images === 0 ? '' : ` (${mib(images)} for images of the payload)`;
  if (total < control + images) {
    return bad(
      `${mib(total)} of memory, at least ${mib(control + images)} are needed${parts}`,
      fix,
    );
  }
  if (free < images) {
    return bad(
      `${mib(free)} are free in the file system in memory, at least ${mib(images)} are needed for images of the payload`,
      `${fix} A live system of CoreOS uses half of it for files.`,
    );
  }
  return good(`${mib(total)} of memory${parts}`);
}

/** The kubelet does not start with reserved CPUs that the host lacks, and needs one for workloads. */
export const cpusCheck: Check = {
  name: 'cpus',
  code: 'preflight-cpus',
  run: async ({ cluster: { reservedCpus } }) => {
    const online = await readFile('/sys/devices/system/cpu/online', 'utf8');
    return judgeCpus(online.trim(), reservedCpus);
  },
};

/** Both are lists of CPUs, such as 0-3. */
export function judgeCpus(online: string, reserved: string | undefined): PreflightFinding {
  if (reserved === undefined) return good(`CPUs ${online}, none reserved`);
  const all = new Set(parseCpuSet(online));
  const wanted = parseCpuSet(reserved) ?? [];
  const fix = "Set bootstrapInPlace.reservedCPUs to some of the host's CPUs, not to all.";
  const missing = wanted.filter((cpu) => !all.has(cpu));
  if (missing.length > 0) {
    return bad(`CPUs ${reserved} are to be reserved, the host has ${online}`, fix);
  }
  return wanted.length < all.size
    ? good(`CPUs ${reserved} of ${online} are reserved`)
    : bad(`all CPUs of the host (${online}) are to be reserved: none is left for workloads`, fix);
}

/** Only its size: inspect-disk has already checked whether it may be written. */
export const diskCheck: Check<InstallableCluster> = {
  name: 'disk',
  code: 'preflight-disk',
  run: async ({ cluster, signal, ...input }) => {
    const { disk: wanted, savePartitions } = cluster.installation;
    const disk = await readDisk(wanted, input.paths, signal);
    const space = spaceOn(disk, savePartitions);
    return judgeSize(`the disk ${wanted}`, space, await neededSpace(input), LARGER_DISK);
  },
};

/** By these labels the installed system of CoreOS finds its own file systems. */
const SYSTEM_LABELS = ['boot', 'root'];

/** A second one on another disk, often of an earlier system, ends the first boot in an emergency shell. */
export const diskLabelsCheck: Check<InstallableCluster> = {
  name: 'disk-labels',
  code: 'preflight-disk-labels',
  run: async ({ cluster, paths, signal }) => {
    const { disk: wanted } = cluster.installation;
    const disk = await findDisk(wanted, paths, signal);
    const found = await labelledElsewhere(SYSTEM_LABELS, disk, paths, signal);
    const [first] = found;
    if (first === undefined) return good('no other disk has a file system labelled boot or root');
    const each = found.map(({ path, label }) => `${path} (${label})`).join(', ');
    return bad(
      `file systems of other disks have the labels of the installed system, which could boot from them: ${each}`,
      `Remove their disks, or take the labels away: "e2label ${first.path} ''" for ext4, "xfs_admin -L -- ${first.path}" for XFS, or "wipefs --all ${first.path}", which deletes the file system.`,
    );
  },
};

const LARGER_DISK =
  'Set a larger disk in bootstrapInPlace.installationDisk, or do not keep a partition before that size.';

/** The file system that the host runs from, which has the payload and all data of the cluster. */
export const ownDiskCheck: Check = {
  name: 'disk',
  code: 'preflight-disk',
  run: async (input) => {
    // In place, the state of the agents is in memory, but for the executable.
    const folder = input.cluster.inPlace === true ? input.paths.binaries : input.paths.state;
    const { blocks, bsize } = await statfs(folder);
    const fix = 'Write the image to a larger disk.';
    return judgeSize(`the file system of ${folder}`, blocks * bsize, await neededSpace(input), fix);
  },
};

/** In bytes. */
interface NeededSpace {
  readonly system: number;
  readonly payload: number;
}

/** The payload counts where a medium has it: before it is fetched, its size is not known. */
async function neededSpace({
  paths,
  settings,
}: Pick<CheckInput, 'paths' | 'settings'>): Promise<NeededSpace> {
  return {
    system: settings.minDiskGB * GB,
    // Its files, and the images and binaries unpacked from them.
    payload: 2 * (await payloadSize(mediumPayload(paths))).bytes,
  };
}

/** Up to the first preserved partition, where the space for the new system ends. */
export function spaceOn(
  disk: Pick<BlockDevice, 'children' | 'pttype' | 'size'>,
  savePartitions: Installation['savePartitions'],
): number {
  const { kept } = keptPartitions(disk, savePartitions);
  return Math.min(disk.size, ...kept.map(({ startBytes }) => startBytes ?? disk.size));
}

/** `where` names what has that space, in bytes. */
export function judgeSize(
  where: string,
  space: number,
  { system, payload }: NeededSpace,
  fix: string,
): PreflightFinding {
  const needed = system + payload;
  if (space >= needed) return good(`${where} has ${inGB(space)}`);
  return bad(
    `${where} is too small: expected ${inGB(needed)} (${inGB(system)} for the system, ${inGB(payload)} for the payload), found ${inGB(space)}`,
    fix,
  );
}
