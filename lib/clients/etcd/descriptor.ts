import type { Descriptor } from '../grpc/client.ts';
import { rpcMethod } from '../grpc/method.ts';

/**
 * The subset of etcd's v3 API that is used here, by the field numbers of etcd
 * (api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto). Unused fields are omitted and
 * skipped when a message is decoded, so the values of keys, Secrets among them, never
 * become objects in memory. An alarm request without fields asks for all alarms.
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
            raftTerm: { type: 'uint64', id: 6 },
            raftAppliedIndex: { type: 'uint64', id: 7 },
            errors: { rule: 'repeated', type: 'string', id: 8 },
            dbSizeInUse: { type: 'int64', id: 9 },
            isLearner: { type: 'bool', id: 10 },
            storageVersion: { type: 'string', id: 11 },
            dbSizeQuota: { type: 'int64', id: 12 },
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
        RangeRequest: {
          fields: {
            key: { type: 'bytes', id: 1 },
            rangeEnd: { type: 'bytes', id: 2 },
            limit: { type: 'int64', id: 3 },
            serializable: { type: 'bool', id: 7 },
            keysOnly: { type: 'bool', id: 8 },
          },
        },
        RangeResponse: {
          fields: {
            kvs: { rule: 'repeated', type: 'mvccpb.KeyValue', id: 2 },
            more: { type: 'bool', id: 3 },
          },
        },
        Member: {
          fields: {
            ID: { type: 'uint64', id: 1 },
            name: { type: 'string', id: 2 },
            peerURLs: { rule: 'repeated', type: 'string', id: 3 },
            clientURLs: { rule: 'repeated', type: 'string', id: 4 },
            isLearner: { type: 'bool', id: 5 },
          },
        },
        MemberListRequest: { fields: {} },
        MemberListResponse: {
          fields: { members: { rule: 'repeated', type: 'Member', id: 2 } },
        },
        AlarmType: { values: { NONE: 0, NOSPACE: 1, CORRUPT: 2 } },
        AlarmRequest: {
          nested: { AlarmAction: { values: { GET: 0, ACTIVATE: 1, DEACTIVATE: 2 } } },
          fields: {
            action: { type: 'AlarmAction', id: 1 },
            memberID: { type: 'uint64', id: 2 },
            alarm: { type: 'AlarmType', id: 3 },
          },
        },
        AlarmMember: {
          fields: { memberID: { type: 'uint64', id: 1 }, alarm: { type: 'AlarmType', id: 2 } },
        },
        AlarmResponse: { fields: { alarms: { rule: 'repeated', type: 'AlarmMember', id: 2 } } },
        Cluster: { methods: { MemberList: rpcMethod('MemberListRequest', 'MemberListResponse') } },
        KV: {
          methods: {
            Range: rpcMethod('RangeRequest', 'RangeResponse'),
            Compact: rpcMethod('CompactionRequest', 'CompactionResponse'),
          },
        },
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
            Alarm: rpcMethod('AlarmRequest', 'AlarmResponse'),
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
