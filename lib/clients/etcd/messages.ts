import { z } from 'zod';
import type { Method } from '../grpc/client.ts';
import { id64, int64 } from '../grpc/scalars.ts';

const header = z.object({ memberId: id64, revision: int64 });

const bytes = z.instanceof(Uint8Array);

function method<T>(path: string, response: z.ZodType<T>): Method<T> {
  return { path: `/etcdserverpb.${path}`, response };
}

export const etcdStatusMethod = method(
  'Maintenance/Status',
  z.object({
    header,
    version: z.string(),
    dbSize: int64,
    dbSizeInUse: int64,
    leader: id64,
    raftIndex: int64,
    raftTerm: int64,
    raftAppliedIndex: int64,
    isLearner: z.boolean(),
    dbSizeQuota: int64,
    errors: z.array(z.string()),
  }),
);

export const compactMethod = method('KV/Compact', z.object({ header }));

/** Keys only: the descriptor has no field for values. */
export const rangeMethod = method(
  'KV/Range',
  z.object({ kvs: z.array(z.object({ key: bytes })), more: z.boolean() }),
);

export const memberListMethod = method(
  'Cluster/MemberList',
  z.object({
    members: z.array(
      z.object({
        ID: id64,
        name: z.string(),
        peerURLs: z.array(z.string()),
        clientURLs: z.array(z.string()),
        isLearner: z.boolean(),
      }),
    ),
  }),
);

export const alarmMethod = method(
  'Maintenance/Alarm',
  z.object({
    alarms: z.array(z.object({ memberID: id64, alarm: z.enum(['NONE', 'NOSPACE', 'CORRUPT']) })),
  }),
);

export const leasesMethod = method(
  'Lease/LeaseLeases',
  z.object({ leases: z.array(z.object({ ID: id64 })) }),
);

export const revokeLeaseMethod = method('Lease/LeaseRevoke', z.object({ header }));

export const defragmentMethod = method('Maintenance/Defragment', z.object({}));

export const hashKvMethod = method(
  'Maintenance/HashKV',
  z.object({ hash: z.number().int(), hashRevision: int64, compactRevision: int64 }),
);

export const snapshotMethod = method(
  'Maintenance/Snapshot',
  z.object({ remainingBytes: int64, blob: bytes, version: z.string() }),
);

export const watchMethod = method(
  'Watch/Watch',
  z.object({
    header,
    created: z.boolean(),
    canceled: z.boolean(),
    cancelReason: z.string(),
    events: z.array(z.object({ kv: z.object({ key: bytes, modRevision: int64 }) })),
  }),
);
