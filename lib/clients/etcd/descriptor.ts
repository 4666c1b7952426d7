import type { Descriptor } from '../grpc/client.ts';
import { protoMessage, protoPackage, rpcMethod } from '../grpc/proto.ts';

const keyValues = protoPackage('mvccpb', {
  KeyValue: protoMessage('bytes key = 1; int64 modRevision = 3'),
  Event: protoMessage('KeyValue kv = 2'),
});

const server = protoPackage('etcdserverpb', {
  ResponseHeader: protoMessage('uint64 clusterId = 1; uint64 memberId = 2; int64 revision = 3'),
  StatusRequest: protoMessage(),
  StatusResponse: protoMessage(`
    ResponseHeader header = 1; string version = 2; int64 dbSize = 3; uint64 leader = 4;
    uint64 raftIndex = 5; uint64 raftTerm = 6; uint64 raftAppliedIndex = 7;
    repeated string errors = 8; int64 dbSizeInUse = 9; bool isLearner = 10;
    string storageVersion = 11; int64 dbSizeQuota = 12;
  `),
  CompactionRequest: protoMessage('int64 revision = 1; bool physical = 2'),
  CompactionResponse: protoMessage('ResponseHeader header = 1'),
  DefragmentRequest: protoMessage(),
  DefragmentResponse: protoMessage('ResponseHeader header = 1'),
  HashKVRequest: protoMessage('int64 revision = 1'),
  HashKVResponse: protoMessage(`
    ResponseHeader header = 1; uint32 hash = 2; int64 compactRevision = 3; int64 hashRevision = 4;
  `),
  SnapshotRequest: protoMessage(),
  SnapshotResponse: protoMessage('uint64 remainingBytes = 2; bytes blob = 3; string version = 4'),
  WatchCreateRequest: protoMessage('bytes key = 1; bytes rangeEnd = 2'),
  WatchRequest: {
    oneofs: { requestUnion: { oneof: ['createRequest'] } },
    ...protoMessage('WatchCreateRequest createRequest = 1'),
  },
  WatchResponse: protoMessage(`
    ResponseHeader header = 1; bool created = 3; bool canceled = 4; string cancelReason = 6;
    repeated mvccpb.Event events = 11;
  `),
  LeaseLeasesRequest: protoMessage(),
  LeaseStatus: protoMessage('int64 ID = 1'),
  LeaseLeasesResponse: protoMessage('ResponseHeader header = 1; repeated LeaseStatus leases = 2'),
  LeaseRevokeRequest: protoMessage('int64 ID = 1'),
  LeaseRevokeResponse: protoMessage('ResponseHeader header = 1'),
  Lease: {
    methods: {
      LeaseRevoke: rpcMethod('LeaseRevokeRequest', 'LeaseRevokeResponse'),
      LeaseLeases: rpcMethod('LeaseLeasesRequest', 'LeaseLeasesResponse'),
    },
  },
  RangeRequest: protoMessage(`
    bytes key = 1; bytes rangeEnd = 2; int64 limit = 3; bool serializable = 7; bool keysOnly = 8;
  `),
  RangeResponse: protoMessage('repeated mvccpb.KeyValue kvs = 2; bool more = 3'),
  Member: protoMessage(`
    uint64 ID = 1; string name = 2; repeated string peerURLs = 3; repeated string clientURLs = 4;
    bool isLearner = 5;
  `),
  MemberListRequest: protoMessage(),
  MemberListResponse: protoMessage('repeated Member members = 2'),
  AlarmType: { values: { NONE: 0, NOSPACE: 1, CORRUPT: 2 } },
  AlarmRequest: {
    nested: { AlarmAction: { values: { GET: 0, ACTIVATE: 1, DEACTIVATE: 2 } } },
    ...protoMessage('AlarmAction action = 1; uint64 memberID = 2; AlarmType alarm = 3'),
  },
  AlarmMember: protoMessage('uint64 memberID = 1; AlarmType alarm = 2'),
  AlarmResponse: protoMessage('repeated AlarmMember alarms = 2'),
  Cluster: {
    methods: {
      MemberList: rpcMethod('MemberListRequest', 'MemberListResponse'),
    },
  },
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
});

/**
 * The subset of etcd's v3 API that is used here, by the field numbers of etcd
 * (api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto). Unused fields are omitted and
 * skipped when a message is decoded, so the values of keys, Secrets among them, never
 * become objects in memory. An alarm request without fields asks for all alarms.
 */
export const etcdDescriptor: Descriptor = {
  nested: { ...keyValues.nested, ...server.nested },
};
