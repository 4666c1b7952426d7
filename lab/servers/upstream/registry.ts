import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { writeGoYaml } from '../../../lib/base/go-yaml/write.ts';
import type { KeyPair } from '../../../lib/pki/authority.ts';
import { issueLeaf } from '../../certificates/signed-now.ts';
import { ensureComponent } from '../../components/component.ts';
import { REGISTRY_PROGRAM, registry } from '../../components/registry.ts';
import { eventually } from '../../eventually.ts';
import { type Daemon, startDaemon } from '../daemon.ts';
import { freePort } from '../free-port.ts';

export const USER = 'reader';
export const PASSWORD = 'let-me-in';
/** bcrypt of the password. */
const LINE = `${USER}:$2b$04$TmXIqXe0KGnXvoEGNF1e7edCcjzLNFFk/E0O61rar/2yMC.Mwhism\n`;
const LIFETIME_MS = 10 * 60_000;
const START_MS = 60_000;

/** The names of the registries that a payload is fetched from. */
export const NAMES = ['registry.k8s.io', 'registry-1.docker.io', 'dl.k8s.io', 'github.com'];

export interface TestRegistry {
  readonly address: string;
  readonly port: number;
  readonly storage: string;
  readonly daemon: Daemon;
  /** Paths that were asked for since the last call. */
  asked(): string[];
}

/** A certificate for this machine and for the names of upstream's servers. */
export const serverCertificate = (authority: KeyPair): Promise<KeyPair> =>
  issueLeaf(authority, {
    subject: { commonName: 'upstream' },
    usage: 'server',
    dnsNames: NAMES,
    ipAddresses: ['127.0.0.1'],
  });

/** distribution, with TLS and one login. */
export async function startRegistry(
  folder: string,
  tls: KeyPair,
  signal: AbortSignal,
): Promise<TestRegistry> {
  const program = join(
    await ensureComponent(registry, { signal, report: () => undefined }),
    REGISTRY_PROGRAM,
  );
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const path = (name: string) => join(folder, name);
  writeFileSync(path('htpasswd'), LINE);
  writeFileSync(path('registry.crt'), tls.certificate);
  writeFileSync(path('registry.key'), tls.key);
  const config = {
    version: '0.1',
    log: { level: 'info', accesslog: { disabled: false } },
    storage: { filesystem: { rootdirectory: path('storage') }, delete: { enabled: true } },
    auth: { htpasswd: { realm: 'test', path: path('htpasswd') } },
    http: { addr: address, tls: { certificate: path('registry.crt'), key: path('registry.key') } },
  };
  writeFileSync(path('registry.yaml'), writeGoYaml(config));
  const log = path('registry.log');
  writeFileSync(log, '');
  const daemon = startDaemon(program, ['serve', path('registry.yaml')], log, LIFETIME_MS);
  await eventually(() => accepted(port), START_MS, signal);
  let read = 0;
  const asked = () => {
    const text = readFileSync(log, 'utf8').slice(read);
    read += text.length;
    return Array.from(text.matchAll(/"GET (\/v2\/\S+) HTTP\/[\d.]+" 200/g), ([, at = '']) => at);
  };
  return { address, port, storage: path('storage'), daemon, asked };
}

async function accepted(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
}

/** A file of logins for a registry, as "skopeo login" writes it. */
export function logins(file: string, registries: readonly string[]): string {
  const auth = Buffer.from(`${USER}:${PASSWORD}`).toString('base64');
  const auths = Object.fromEntries(registries.map((name) => [name, { auth }]));
  writeFileSync(file, JSON.stringify({ auths }));
  return file;
}
