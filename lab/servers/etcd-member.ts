import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectEtcd, type EtcdClient, type EtcdTls } from '../../lib/clients/etcd/client.ts';
import type { CallLimits } from '../../lib/clients/grpc/client.ts';
import { createAuthority, issueLeaf } from '../certificates/signed-now.ts';
import { startDaemon } from './daemon.ts';
import { etcdKeys } from './etcd-keys.ts';
import { freePort } from './free-port.ts';

/** Member name in the static pod; a restore must use the same. */
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
  /** It ends after this time, even if its user does not stop it. */
  lifetimeMs?: number;
  args?: readonly string[];
}

/** Certificates of one run: a CA, and one key pair for both server and client. */
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

/** Starts a real etcd on `dataDir`, on loopback with TLS. Files are written to `folder`. */
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
  const keys = etcdKeys(clientUrl, tls);
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
    put: (key, value) => keys.put(key, value, limits()),
    get: async (key) => (await keys.get(key, limits()))?.toString(),
    async stop() {
      client[Symbol.dispose]();
      keys[Symbol.dispose]();
      await daemon.stop();
    },
  };
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
