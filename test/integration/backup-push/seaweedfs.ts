import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { ensureComponent } from '../../../lab/components/component.ts';
import { seaweedfs } from '../../../lab/components/seaweedfs.ts';
import { eventually } from '../../../lab/eventually.ts';
import { startDaemon } from '../../../lab/servers/daemon.ts';
import { freePort } from '../../../lab/servers/free-port.ts';

export const KEYS = { accessKeyId: 'edge', secretAccessKey: 'the+secret/of=the"site\\' } as const;
export const BUCKET = 'backups';
const LIFETIME_MS = 5 * 60_000;
const START_MS = 60_000;
/** Another program can have taken one of its nine ports meanwhile. */
const STARTS = 3;

/** SeaweedFS with TLS: S3, which knows one key that may use one bucket, and WebDAV. Its files are in the folder. */
export async function startSeaweedfs(t: Test, folder: string, signal: AbortSignal) {
  const program = join(
    await ensureComponent(seaweedfs, { signal, report: (line) => t.comment(line) }),
    'weed',
  );
  const authority = await createAuthority('store');
  const tls = await issueLeaf(authority, {
    subject: { commonName: 'store' },
    usage: 'server',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  const path = (name: string) => join(folder, name);
  writeFileSync(path('tls.crt'), tls.certificate);
  writeFileSync(path('tls.key'), tls.key);
  writeFileSync(path('ca.crt'), authority.certificate);
  const { accessKeyId: accessKey, secretAccessKey: secretKey } = KEYS;
  const actions = [`Read:${BUCKET}`, `Write:${BUCKET}`];
  const identities = [
    {
      name: 'admin',
      credentials: [{ accessKey: 'admin', secretKey: 'admin' }],
      actions: ['Admin'],
    },
    { name: 'edge', credentials: [{ accessKey, secretKey }], actions },
  ];
  writeFileSync(path('s3.json'), JSON.stringify({ identities }));
  for (const name of ['data', 'cache']) mkdirSync(path(name));
  for (let start = 1; ; start += 1) {
    const { daemon, ports } = await startDaemonOn(program, path);
    const s3 = `https://localhost:${ports.s3}`;
    const webdav = `https://localhost:${ports.webdav}/`;
    /** curl as a person has it, with further options. */
    const curl = (...args: string[]) =>
      execa('curl', ['-sS', '--fail-with-body', '--cacert', path('ca.crt'), ...args], {
        encoding: 'buffer',
        timeout: 20_000,
        cancelSignal: signal,
      });
    const asAdmin = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', 'admin:admin'];
    try {
      await eventually(() => curl(...asAdmin, '-X', 'PUT', `${s3}/${BUCKET}`), START_MS, signal);
      await eventually(() => curl('-X', 'MKCOL', `${webdav}shop/`), START_MS, signal);
      t.teardown(() => daemon.stop());
      return { s3, webdav, curl, authority: authority.certificate };
    } catch (error) {
      await daemon.stop();
      if (start === STARTS) throw error;
    }
  }
}

async function startDaemonOn(program: string, path: (name: string) => string) {
  const ports = {
    ...{ master: await freePort(), masterRpc: await freePort() },
    ...{ volume: await freePort(), volumeRpc: await freePort() },
    ...{ filer: await freePort(), filerRpc: await freePort() },
    ...{ s3: await freePort(), s3Rpc: await freePort(), webdav: await freePort() },
  };
  const daemon = startDaemon(
    'unshare',
    [
      // It has sockets in /tmp.
      ...['--mount', '--propagation', 'private', 'sh', '-c'],
      ...['mount -t tmpfs tmp /tmp && exec "$0" "$@"', program],
      ...['server', '-ip=127.0.0.1', '-ip.bind=127.0.0.1', `-dir=${path('data')}`],
      ...[`-master.port=${ports.master}`, `-master.port.grpc=${ports.masterRpc}`],
      ...['-master.telemetry=false', '-master.volumeSizeLimitMB=64'],
      ...[`-volume.port=${ports.volume}`, `-volume.port.grpc=${ports.volumeRpc}`],
      ...['-filer', `-filer.port=${ports.filer}`, `-filer.port.grpc=${ports.filerRpc}`],
      ...['-s3', `-s3.port=${ports.s3}`, `-s3.port.grpc=${ports.s3Rpc}`],
      ...[`-s3.config=${path('s3.json')}`, '-s3.port.iceberg=0', '-s3.port.lance=0'],
      ...[`-s3.cert.file=${path('tls.crt')}`, `-s3.key.file=${path('tls.key')}`],
      ...['-webdav', `-webdav.port=${ports.webdav}`, `-webdav.cacheDir=${path('cache')}`],
      ...[`-webdav.cert.file=${path('tls.crt')}`, `-webdav.key.file=${path('tls.key')}`],
    ],
    path('weed.log'),
    LIFETIME_MS,
  );
  return { daemon, ports };
}
