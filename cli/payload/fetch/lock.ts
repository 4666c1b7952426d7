import { stringify } from 'yaml';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { type Architecture, architectures } from '../../../lib/host/architecture.ts';
import { readSmallFile } from '../../../lib/host/given-file.ts';
import { referencePattern } from '../../../lib/payload/image/reference.ts';
import { parseDescribed, releasePattern } from '../../../lib/payload/payload.ts';
import { DOWNLOAD_ADDRESSES, IMAGE_ADDRESSES } from './upstream.ts';

const size = z.int().positive();
const hex = /^[0-9a-f]{64}$/;

const lockedImage = z.strictObject({
  name: z.enum(IMAGE_ADDRESSES.map(({ name }) => name)),
  reference: z.string().max(255).regex(referencePattern),
  /** Of the manifest for the architecture. */
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  /** Bytes of configuration and layers, as they are transferred. */
  size,
});

const lockedDownload = z.strictObject({
  name: z.enum(DOWNLOAD_ADDRESSES.map(({ name }) => name)),
  url: z
    .string()
    .max(1024)
    .regex(/^https:\/\/[a-z0-9][a-z0-9.-]*(:\d+)?(\/[A-Za-z0-9._~+-]+)+$/),
  size,
  sha256: z.string().regex(hex),
});

const release = z.string().regex(releasePattern);

/** payload.lock.yaml: what a payload was fetched from. */
export const payloadLockSchema = z.strictObject({
  apiVersion: z.literal('sno-agents/v1'),
  kind: z.literal('PayloadLock'),
  architecture: z.enum(architectures),
  versions: z.strictObject({ kubernetes: release, etcd: release }),
  images: z.array(lockedImage).min(1).max(IMAGE_ADDRESSES.length),
  downloads: z.array(lockedDownload).min(1).max(DOWNLOAD_ADDRESSES.length),
});

export type PayloadLock = z.infer<typeof payloadLockSchema>;

/** The lock's file beside a payload: `payload.lock.yaml` of `payload`. */
export const lockPathOf = (directory: string): string => `${directory}.lock.yaml`;

export const lockText = (lock: PayloadLock): string =>
  `# What the payload was made of. "sno create payload --lock" accepts nothing else.\n${stringify(lock)}`;

/** @throws Failure (usage) with every fault of the file */
export async function readLock(path: string): Promise<PayloadLock> {
  const text = await readSmallFile(path, '--lock');
  const lock = parseDescribed(text, payloadLockSchema, (faults) => faulty(path, faults));
  const twice = [...lock.images, ...lock.downloads]
    .map(({ name }) => name)
    .filter((name, index, all) => all.indexOf(name) !== index);
  if (twice.length > 0) throw faulty(path, [`${twice.join(', ')}: occurs twice`]);
  return lock;
}

const faulty = (path: string, faults: readonly string[]) =>
  new Failure('usage', `--lock ${path} is not a payload.lock.yaml; nothing was written`, {
    found: faults.slice(0, 5).join('; '),
    fix: 'Use the one that "sno create payload --kubernetes" wrote beside a payload.',
  });

/** What is asked for beside a lock; undefined: whatever the lock has. */
export interface AskedOfLock {
  /** v1.37.2, or a minor version of which any is right: 1.37. */
  readonly kubernetes: string | undefined;
  readonly etcd: string | undefined;
  readonly architecture: Architecture | undefined;
  /** The names of the parts. */
  readonly parts: readonly string[];
}

/** Why a lock is not the one of such a payload: a sentence each. */
export function lockFaults(path: string, lock: PayloadLock, asked: AskedOfLock): string[] {
  const { kubernetes, etcd } = lock.versions;
  const differs = (what: string, found: string, wanted: string | undefined) =>
    wanted === undefined || found === wanted || found.startsWith(`v${wanted}.`)
      ? []
      : [`--lock ${path} does not fit: it is for ${what} ${found}, asked for is ${wanted}`];
  const names = [...lock.images, ...lock.downloads].map(({ name }) => name);
  const missing = asked.parts.filter((name) => !names.includes(name));
  const further = names.filter((name) => !asked.parts.includes(name));
  return [
    ...differs('Kubernetes', kubernetes, asked.kubernetes),
    ...differs('etcd', etcd, asked.etcd),
    ...differs('the architecture', lock.architecture, asked.architecture),
    ...missing.map((name) => `--lock ${path} does not fit: it has no ${name}`),
    ...further.map((name) => `--lock ${path} does not fit: it also has ${name}, which is left out`),
  ];
}
