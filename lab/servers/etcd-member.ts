import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { z } from 'zod';
import { connectEtcd, type EtcdClient, type EtcdTls } from '../../lib/etcd/client.ts';
import { type CallLimits, type Method, RpcClient } from '../../lib/grpc/client.ts';
import { rpcMethod } from '../../lib/grpc/method.ts';
import { createAuthority } from '../../lib/pki/authority.ts';
import { issueLeaf } from '../../lib/pki/leaf.ts';
import { freePort, startDaemon } from './daemon.ts';

/** How the static pod names its member; a restore must use the same. */
export const member = { name: 'etcd', token: 'test' } as const;

export interface EtcdMember {
  client: EtcdClient;
  clientUrl: string;
  peerUrl: string;
  /** Paths of the certificates, for programs. */
  files: TlsFiles;
  put(key: string, value: Buffer): Promise<void>;
  get(key: string): Promise<string | undefined>;
  stop(): Promise<void>;
}

export interface TlsFiles {
  ca: string;
  cert: string;
  key: string;
}

export interface EtcdOptions {
  /** It ends by itself after this long, whatever becomes of its user. */
  lifetimeMs?: number;
  args?: readonly string[];
}

/** Certificates of one run: an authority, and one pair for server and client alike. */
export async function makeTls(): Promise<EtcdTls> {
  const authority = await createAuthority('test etcd authority');
  const { certificate, key } = await issueLeaf(authority, {
    subject: { commonName: 'etcd' },
    usage: 'both',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  return { ca: authority.certificate, cert: certificate, key };
}

/** Starts a real etcd on `dataDir`, on loopback with TLS. Files go to `folder`. */
export async function startEtcd(
  program: string,
  folder: string,
  dataDir: string,
  tls: EtcdTls,
  { lifetimeMs = 120_000, args = [] }: EtcdOptions = {},
): Promise<EtcdMember> {
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const clientUrl = `https://127.0.0.1:${clientPort}`;
  const peerUrl = 'http://127.0.0.1:2380';
  const files = await writeTls(folder, tls);
  const daemon = startDaemon(
    program,
    [
      ...['--name', member.name, '--data-dir', dataDir, '--log-level', 'error'],
      ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
      ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`],
      ...['--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', `${member.name}=${peerUrl}`],
      ...['--initial-cluster-token', member.token, '--unsafe-no-fsync'],
      ...['--cert-file', files.cert, '--key-file', files.key],
      ...['--client-cert-auth', '--trusted-ca-file', files.ca],
      ...args,
    ],
    join(folder, 'etcd.log'),
    lifetimeMs,
  );
  const client = connectEtcd(clientUrl, tls);
  const keys = keyValueClient(clientUrl, tls);
  await client.status({
    signal: AbortSignal.timeout(30_000),
    deadlineMs: 30_000,
    waitForReady: true,
  });
  return {
    client,
    clientUrl,
    peerUrl,
    files,
    async put(key, value) {
      await keys.unary(putMethod, { key: Buffer.from(key), value }, limits());
    },
    async get(key) {
      const { kvs } = await keys.unary(rangeMethod, { key: Buffer.from(key) }, limits());
      return kvs[0]?.value.toString();
    },
    async stop() {
      client.close();
      keys.close();
      await daemon.stop();
    },
  };
}

/** What the agents never do, and so is not in their descriptor: reading and writing keys. */
const putMethod: Method<object> = { path: '/etcdserverpb.KV/Put', response: z.object({}) };
const rangeMethod: Method<{ kvs: { value: Buffer }[] }> = {
  path: '/etcdserverpb.KV/Range',
  response: z.object({ kvs: z.array(z.object({ value: z.instanceof(Buffer) })) }),
};

function keyValueClient(endpoint: string, { ca, cert, key }: EtcdTls): RpcClient {
  const bytes = (id: number) => ({ type: 'bytes', id });
  return new RpcClient({
    name: endpoint,
    address: new URL(endpoint).host,
    tlsServerName: 'localhost',
    credentials: credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert)),
    descriptor: {
      nested: {
        etcdserverpb: {
          nested: {
            KeyValue: { fields: { key: bytes(1), value: bytes(5) } },
            PutRequest: { fields: { key: bytes(1), value: bytes(2) } },
            PutResponse: { fields: {} },
            RangeRequest: { fields: { key: bytes(1) } },
            RangeResponse: { fields: { kvs: { rule: 'repeated', type: 'KeyValue', id: 2 } } },
            KV: {
              methods: {
                Put: rpcMethod('PutRequest', 'PutResponse'),
                Range: rpcMethod('RangeRequest', 'RangeResponse'),
              },
            },
          },
        },
      },
    },
  });
}

export function limits(deadlineMs = 20_000): CallLimits {
  return { signal: AbortSignal.timeout(deadlineMs), deadlineMs };
}

async function writeTls(folder: string, { ca, cert, key }: EtcdTls): Promise<TlsFiles> {
  const files = {
    ca: join(folder, 'ca.crt'),
    cert: join(folder, 'etcd.crt'),
    key: join(folder, 'etcd.key'),
  };
  await mkdir(folder, { recursive: true });
  await writeFile(files.ca, ca);
  await writeFile(files.cert, cert);
  await writeFile(files.key, key, { mode: 0o600 });
  return files;
}
