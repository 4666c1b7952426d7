import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitForApi } from '../../lib/clients/kube/api-ready.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import type { KeyPair } from '../../lib/pki/authority.ts';
import { createSigningKey } from '../../lib/pki/keys.ts';
import { kubeconfig } from '../../lib/pki/kubeconfig.ts';
import { createAuthority, issueLeaf } from '../certificates/signed-now.ts';
import { etcdBinaries, kubernetesBinary } from './binaries.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { freePort } from './free-port.ts';

export interface ApiUser {
  name: string;
  groups: string[];
}

export interface ControlPlaneOptions {
  /** Both processes end after this time, even if their user does not stop them. */
  lifetimeMs?: number;
  /** Another kube-apiserver than that of the lab's Kubernetes. */
  program?: string;
  /** Additional arguments for kube-apiserver. */
  args?: readonly string[];
}

export interface CertificateAccess extends KeyPair {
  readonly server: URL;
  /** Certificate of the server's authority. */
  readonly ca: string;
}

/** A real etcd and kube-apiserver on loopback, with TLS and RBAC, and nothing else. */
export interface ControlPlane {
  /** A new certificate for that user, with which it is known to the API server. */
  access(user: ApiUser): Promise<CertificateAccess>;
  /** A client with a certificate for that user. Default: administrator. */
  client(user?: ApiUser): Promise<KubeClient>;
  /** The same certificate in a kubeconfig. */
  kubeconfig(user: ApiUser): Promise<string>;
  stopApiServer(): Promise<void>;
  /** On the same port and with the same etcd as before; returns when it is ready. */
  startApiServer(): Promise<void>;
  /** Stops both, calls `change` with the folder of etcd's data, and starts them; returns when the API is ready. */
  whileStopped(change: (dataDir: string) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
  readonly server: URL;
  /** Signs client and server certificates. */
  readonly authority: KeyPair;
  /** Its etcd, and the paths of what an etcd client needs. */
  readonly etcd: {
    readonly url: string;
    readonly ca: string;
    readonly certificate: string;
    readonly key: string;
  };
}

const readyMs = 90_000;
const administrator: ApiUser = { name: 'test-admin', groups: ['system:masters'] };

/** Files and logs are written to `folder`. */
export async function startControlPlane(
  folder: string,
  signal: AbortSignal,
  { lifetimeMs = 240_000, args = [], program: given }: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  // First: on a new machine this builds them, which takes longer than a server's lifetime.
  const program = given ?? (await kubernetesBinary('kube-apiserver', signal));
  const authority = await createAuthority('test authority');
  const files = await writePki(folder, authority);
  const etcd = await startEtcd(folder, files, lifetimeMs, signal);
  const port = await freePort();
  const server = new URL(`https://127.0.0.1:${port}`);
  const leafOf = (user: ApiUser) =>
    issueLeaf(authority, {
      subject: { commonName: user.name, organizations: user.groups },
      usage: 'client',
    });
  const access = async (user: ApiUser) => ({
    server,
    ca: authority.certificate,
    ...(await leafOf(user)),
  });
  const client = async (user = administrator) => new KubeClient(await access(user));
  const kubeconfigOf = async (user: ApiUser) => {
    const { certificate, key } = await leafOf(user);
    const credentials = { authority: authority.certificate, certificate, key };
    return kubeconfig({
      server: server.href,
      cluster: 'local',
      user: user.name,
      credentials: { kind: 'embedded', ...credentials },
    });
  };
  const serverArgs = [...apiServerArguments(files, etcd.url, port), ...args];
  let apiServer: Daemon | undefined;
  const stopApiServer = async () => apiServer?.stop();
  const startApiServer = async () => {
    apiServer = startDaemon(program, serverArgs, join(folder, 'kube-apiserver.log'), lifetimeMs);
    using admin = await client();
    await waitForApi(admin, { signal, deadlineMs: readyMs, report: () => {} });
  };
  const stop = async () => {
    await stopApiServer();
    await etcd.stop();
  };
  const whileStopped = async (change: (dataDir: string) => Promise<void>) => {
    await stop();
    await change(etcd.dataDir);
    etcd.start();
    await startApiServer();
  };
  try {
    await startApiServer();
  } catch (error) {
    await stop();
    throw error;
  }
  const { ca, certificate, key } = files;
  return {
    access,
    client,
    kubeconfig: kubeconfigOf,
    stopApiServer,
    startApiServer,
    whileStopped,
    stop,
    server,
    authority,
    etcd: { url: etcd.url, ca, certificate, key },
  };
}

interface PkiFiles {
  readonly folder: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  readonly accountsKey: string;
  readonly accountsPublicKey: string;
}

async function writePki(folder: string, authority: KeyPair): Promise<PkiFiles> {
  await mkdir(folder, { recursive: true });
  const own = await issueLeaf(authority, {
    subject: { commonName: 'localhost' },
    usage: 'both',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  const accounts = await createSigningKey();
  const write = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  return {
    folder,
    ca: await write('ca.crt', authority.certificate),
    certificate: await write('server.crt', own.certificate),
    key: await write('server.key', own.key),
    accountsKey: await write('accounts.key', accounts.privateKey),
    accountsPublicKey: await write('accounts.pub', accounts.publicKey),
  };
}

async function startEtcd(folder: string, files: PkiFiles, lifetimeMs: number, signal: AbortSignal) {
  const url = `https://127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const dataDir = join(folder, 'etcd');
  const args = [
    ...['--name', 'test', '--data-dir', dataDir, '--log-level', 'error'],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `test=${peer}`, '--unsafe-no-fsync'],
    ...['--cert-file', files.certificate, '--key-file', files.key],
    ...['--client-cert-auth', '--trusted-ca-file', files.ca],
  ];
  const { etcd } = await etcdBinaries(signal);
  const run = () => startDaemon(etcd, args, join(folder, 'etcd.log'), lifetimeMs);
  let daemon = run();
  const start = () => {
    daemon = run();
  };
  return { url, dataDir, start, stop: () => daemon.stop() };
}

function apiServerArguments(files: PkiFiles, etcdUrl: string, port: number): string[] {
  return [
    ...['--bind-address=127.0.0.1', `--secure-port=${port}`],
    ...['--advertise-address=192.0.2.1', '--endpoint-reconciler-type=none'],
    `--etcd-servers=${etcdUrl}`,
    `--etcd-cafile=${files.ca}`,
    `--etcd-certfile=${files.certificate}`,
    `--etcd-keyfile=${files.key}`,
    `--tls-cert-file=${files.certificate}`,
    `--tls-private-key-file=${files.key}`,
    `--client-ca-file=${files.ca}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.accountsPublicKey}`,
    `--service-account-signing-key-file=${files.accountsKey}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    // Immediate shutdown: there is nothing to drain.
    '--shutdown-delay-duration=0',
  ];
}
