import { createHash } from 'node:crypto';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerWritableStream,
  status,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import type { Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { messageOf } from '../../../../lib/base/errors/failure.ts';
import { etcdDescriptor } from '../../../../lib/clients/etcd/descriptor.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import type { TestHost } from './host.ts';

const authority = await createAuthority('etcd-ca');
const server = await issueLeaf(authority, {
  subject: { commonName: 'etcd-server' },
  usage: 'server',
  ipAddresses: ['127.0.0.1'],
});
const client = await issueLeaf(authority, { subject: { commonName: 'agents' }, usage: 'client' });

/** Bytes of the database without free pages. */
const DEFRAGMENTED = 2 ** 20;

/** The snapshot that the fake etcd streams: a database and its SHA-256. */
const DATABASE = Buffer.from('all keys of the cluster');
export const snapshotBytes = Buffer.concat([
  DATABASE,
  createHash('sha256').update(DATABASE).digest(),
]);

export interface FakeEtcd {
  readonly url: string;
  /** Every call that changes or reads the database, in order. */
  readonly calls: string[];
  /** Its answers; a test may change them at any time. */
  readonly state: {
    revision: number;
    leader: string;
    leases: string[];
    hash: number;
    dbSize: number;
    dbSizeQuota: number;
    alarms: ('NOSPACE' | 'CORRUPT')[];
  };
  /** Called before the database is hashed or its snapshot is streamed; an error refuses the call. */
  before: (call: 'hash' | 'snapshot') => void;
  /** Gives a host a client certificate, as that of the agents and that of the API server. */
  giveAccess(host: TestHost): void;
}

/**
 * An etcd member on loopback, with mutual TLS. It implements the calls of the agents; others are
 * refused. Pass its `url` to the host as `endpoints.etcd`.
 */
export async function fakeEtcd(t: Test): Promise<FakeEtcd> {
  const state: FakeEtcd['state'] = {
    ...{ revision: 12, leader: '7', leases: ['41', '42'], hash: 99 },
    ...{ dbSize: 4096, dbSizeQuota: 0, alarms: [] },
  };
  const calls: string[] = [];
  const header = () => ({ memberId: '7', revision: `${state.revision}` });
  const unary = {
    Status: () => ({
      header: header(),
      version: '3.6.8',
      leader: state.leader,
      dbSize: `${state.dbSize}`,
      dbSizeQuota: `${state.dbSizeQuota}`,
    }),
    Alarm: ({ action, alarm }: Request) => {
      if (action === 'DEACTIVATE') {
        calls.push(`disarm ${alarm}`);
        state.alarms = state.alarms.filter((each) => each !== alarm);
      }
      return { alarms: state.alarms.map((each) => ({ memberID: '7', alarm: each })) };
    },
    LeaseLeases: () => ({ leases: state.leases.map((ID) => ({ ID })) }),
    LeaseRevoke: ({ ID }: Request) => {
      calls.push(`revoke ${ID}`);
      state.revision += 1;
      return { header: header() };
    },
    Compact: ({ revision, physical }: Request) => {
      calls.push(`compact ${revision}${physical === true ? ' physically' : ''}`);
      return { header: header() };
    },
    Defragment: () => {
      calls.push('defragment');
      state.dbSize = Math.min(state.dbSize, DEFRAGMENTED);
      return {};
    },
    HashKV: ({ revision }: Request) => {
      etcd.before('hash');
      calls.push(`hash ${revision}`);
      return { hash: state.hash, hashRevision: `${state.revision}`, compactRevision: '14' };
    },
  };
  const etcd: FakeEtcd = {
    url: '',
    calls,
    state,
    before: () => {},
    giveAccess(host) {
      const { etcd, gather } = accessTo('kubernetes');
      for (const { ca, certificate, key } of [etcd, gather.etcd]) {
        host.write(ca, authority.certificate);
        host.write(certificate, client.certificate);
        host.write(key, client.key, 0o600);
      }
    },
  };
  const streams = {
    Snapshot(call: ServerWritableStream<object, object>) {
      etcd.before('snapshot');
      calls.push('snapshot');
      call.write({ remainingBytes: '0', blob: DATABASE, version: '3.6.0' });
      call.write({ remainingBytes: '0', blob: snapshotBytes.subarray(DATABASE.length) });
      call.end();
    },
    Watch(call: ServerDuplexStream<object, object>) {
      call.on('data', () => call.write({ header: header(), created: true }));
    },
  };
  const port = await serve(t, unary, streams);
  return Object.assign(etcd, { url: `https://127.0.0.1:${port}` });
}

interface Request {
  readonly ID?: string;
  readonly revision?: string;
  readonly physical?: boolean;
  readonly action?: string;
  readonly alarm?: string;
}
type Answer = (error: object | null, value?: object) => void;

const definition = fromJSON(etcdDescriptor, { longs: String, enums: String, defaults: true });

async function serve(
  t: Test,
  unary: Readonly<Record<string, (request: Request) => object>>,
  streams: Parameters<Server['addService']>[1],
): Promise<number> {
  const rpc = new Server();
  for (const service of Object.values(definition)) {
    if ('format' in service) continue;
    const handlers = Object.keys(service).map((name) => {
      const handle = (call: { request: Request }, answer: Answer) => {
        try {
          const given = unary[name]?.(call.request);
          if (given !== undefined) answer(null, given);
          else answer({ code: status.UNIMPLEMENTED, details: `unexpected ${name}` });
        } catch (error) {
          answer({ code: status.OUT_OF_RANGE, details: messageOf(error) });
        }
      };
      return [name, streams[name] ?? handle] as const;
    });
    rpc.addService(service, Object.fromEntries(handlers));
  }
  t.teardown(() => rpc.forceShutdown());
  const pair = {
    private_key: Buffer.from(server.key),
    cert_chain: Buffer.from(server.certificate),
  };
  const tls = ServerCredentials.createSsl(Buffer.from(authority.certificate), [pair], true);
  return new Promise((resolve, reject) =>
    rpc.bindAsync('127.0.0.1:0', tls, (error, port) => (error ? reject(error) : resolve(port))),
  );
}
