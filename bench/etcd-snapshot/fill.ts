import { randomBytes } from 'node:crypto';
import pMap from 'p-map';
import type { EtcdMember } from '../../lab/servers/etcd-member.ts';

/** Sizes of values like those of a cluster: many small objects, some large ConfigMaps and Secrets. */
const SIZES: readonly { readonly kib: number; readonly share: number }[] = [
  { kib: 2, share: 0.7 },
  { kib: 8, share: 0.25 },
  { kib: 64, share: 0.05 },
];
const RESOURCES = ['pods', 'configmaps', 'secrets', 'events', 'replicasets', 'leases'];
const PARALLEL_PUTS = 64;

/** Writes keys and values like those of an API server, `bytes` of values in total. */
export async function fillEtcd(
  member: EtcdMember,
  bytes: number,
  signal: AbortSignal,
): Promise<number> {
  const values = SIZES.map(({ kib }) => objectOf(kib * 1024));
  const meanBytes = SIZES.reduce((sum, { kib, share }) => sum + kib * 1024 * share, 0);
  const keys = Array.from({ length: Math.ceil(bytes / meanBytes) }, (_, at) => at);
  const put = async (at: number) => {
    signal.throwIfAborted();
    await member.put(keyOf(at), values[sizeOf(at)] ?? Buffer.alloc(0));
  };
  await pMap(keys, put, { concurrency: PARALLEL_PUTS });
  return keys.length;
}

function keyOf(at: number): string {
  const resource = RESOURCES[at % RESOURCES.length];
  return `/registry/${resource}/namespace-${at % 97}/object-${at}`;
}

/** The size of a value, in the proportions above, evenly distributed over the keys. */
function sizeOf(at: number): number {
  const place = (at * 37) % 100;
  let below = 0;
  for (const [index, { share }] of SIZES.entries()) {
    below += share * 100;
    if (place < below) return index;
  }
  return 0;
}

/** An object as the API server stores it, encrypted or not: no zeros, and hardly compressible. */
function objectOf(bytes: number): Buffer {
  const head = Buffer.from('k8s\0\n\f\n\x02v1\x12\x06Secret');
  return Buffer.concat([head, randomBytes(bytes - head.length)]);
}
