import type { Descriptor } from '../grpc/client.ts';
import { rpcMethod } from '../grpc/method.ts';

/**
 * The part of etcd's v3 API that is used here, by the field numbers of etcd 3.6
 * (api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto). Fields that nobody reads are
 * left out and skipped when a message is decoded: so the values of watched keys,
 * among them Secrets, never become objects in memory.
 */
export const etcdDescriptor: Descriptor = {
  nested: {
    mvccpb: {
      nested: {
        KeyValue: {
          fields: { key: { type: 'bytes', id: 1 }, modRevision: { type: 'int64', id: 3 } },
        },
        Event: { fields: { kv: { type: 'KeyValue', id: 2 } } },
      },
    },
    etcdserverpb: {
      nested: {
        ResponseHeader: {
          fields: {
            clusterId: { type: 'uint64', id: 1 },
            memberId: { type: 'uint64', id: 2 },
            revision: { type: 'int64', id: 3 },
          },
        },
        StatusRequest: { fields: {} },
        StatusResponse: {
          fields: {
            header: { type: 'ResponseHeader', id: 1 },
            version: { type: 'string', id: 2 },
            dbSize: { type: 'int64', id: 3 },
            leader: { type: 'uint64', id: 4 },
            raftIndex: { type: 'uint64', id: 5 },
            errors: { rule: 'repeated', type: 'string', id: 8 },
            dbSizeInUse: { type: 'int64', id: 9 },
            storageVersion: { type: 'string', id: 11 },
          },
        },
        CompactionRequest: {
          fields: { revision: { type: 'int64', id: 1 }, physical: { type: 'bool', id: 2 } },
        },
        CompactionResponse: { fields: { header: { type: 'ResponseHeader', id: 1 } } },
        DefragmentRequest: { fields: {} },
        DefragmentResponse: { fields: { header: { type: 'ResponseHeader', id: 1 } } },
        HashKVRequest: { fields: { revision: { type: 'int64', id: 1 } } },
        HashKVResponse: {
          fields: {
            header: { type: 'ResponseHeader', id: 1 },
            hash: { type: 'uint32', id: 2 },
            compactRevision: { type: 'int64', id: 3 },
            hashRevision: { type: 'int64', id: 4 },
          },
        },
        SnapshotRequest: { fields: {} },
        SnapshotResponse: {
          fields: {
            remainingBytes: { type: 'uint64', id: 2 },
            blob: { type: 'bytes', id: 3 },
            version: { type: 'string', id: 4 },
          },
        },
        WatchCreateRequest: {
          fields: { key: { type: 'bytes', id: 1 }, rangeEnd: { type: 'bytes', id: 2 } },
        },
        WatchRequest: {
          oneofs: { requestUnion: { oneof: ['createRequest'] } },
          fields: { createRequest: { type: 'WatchCreateRequest', id: 1 } },
        },
        WatchResponse: {
          fields: {
            header: { type: 'ResponseHeader', id: 1 },
            created: { type: 'bool', id: 3 },
            canceled: { type: 'bool', id: 4 },
            cancelReason: { type: 'string', id: 6 },
            events: { rule: 'repeated', type: 'mvccpb.Event', id: 11 },
          },
        },
        LeaseLeasesRequest: { fields: {} },
        LeaseStatus: { fields: { ID: { type: 'int64', id: 1 } } },
        LeaseLeasesResponse: {
          fields: {
            header: { type: 'ResponseHeader', id: 1 },
            leases: { rule: 'repeated', type: 'LeaseStatus', id: 2 },
          },
        },
        LeaseRevokeRequest: { fields: { ID: { type: 'int64', id: 1 } } },
        LeaseRevokeResponse: { fields: { header: { type: 'ResponseHeader', id: 1 } } },
        Lease: {
          methods: {
            LeaseRevoke: rpcMethod('LeaseRevokeRequest', 'LeaseRevokeResponse'),
            LeaseLeases: rpcMethod('LeaseLeasesRequest', 'LeaseLeasesResponse'),
          },
        },
        KV: { methods: { Compact: rpcMethod('CompactionRequest', 'CompactionResponse') } },
        Watch: {
          methods: {
            Watch: rpcMethod('WatchRequest', 'WatchResponse', {
              requestStream: true,
              responseStream: true,
            }),
          },
        },
        Maintenance: {
          methods: {
            Status: rpcMethod('StatusRequest', 'StatusResponse'),
            Defragment: rpcMethod('DefragmentRequest', 'DefragmentResponse'),
            HashKV: rpcMethod('HashKVRequest', 'HashKVResponse'),
            Snapshot: rpcMethod('SnapshotRequest', 'SnapshotResponse', { responseStream: true }),
          },
        },
      },
    },
  },
};
