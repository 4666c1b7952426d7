import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { upstreamParts } from '../../../../cli/payload/fetch/upstream.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import {
  logins,
  serverCertificate,
  startRegistry,
  type TestRegistry,
} from '../../../../lab/servers/upstream/registry.ts';
import { openDownloads, type TestSite } from '../../../../lab/servers/upstream/site.ts';
import type { KeyPair } from '../../../../lib/pki/authority.ts';
import { kubernetesProgram } from '../../../unit/cli/payload-sources.ts';
import { type Run, sno } from '../../../unit/cli/run-sno.ts';
import { ARM64, programBytes } from '../../../unit/payload/elf/program.ts';
import { hex, tarOf } from '../../../unit/payload/image/archives.ts';
import { type PushedImage, push } from './images.ts';

export const KUBERNETES = 'v1.37.2';
const ETCD = 'v3.7.0';

/** What this machine may have: another proxy, and what curl trusts instead of SSL_CERT_FILE. */
const OTHERS = [
  ...['CURL_CA_BUNDLE', 'SSL_CERT_DIR', 'REGISTRY_AUTH_FILE', 'no_proxy', 'NO_PROXY'],
  ...['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
];

/** A registry with TLS and a login, and the download sites, with one version of everything. */
export interface Upstream {
  readonly folder: string;
  readonly registry: TestRegistry;
  readonly site: TestSite;
  readonly tls: KeyPair;
  /** What the registry has of each image, by name. */
  readonly images: ReadonlyMap<string, PushedImage>;
  /** Path of the authority's certificate. */
  readonly authority: string;
  /** Path of a file of logins. */
  readonly logins: string;
  /** `--registry`, `--downloads` and `--pull-secret`. */
  readonly mirrors: readonly string[];
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Run>;
  close(): Promise<void>;
}

export async function startUpstream(folder: string, signal: AbortSignal): Promise<Upstream> {
  mkdirSync(folder, { recursive: true });
  const issuer = await createAuthority('Upstream');
  const authority = join(folder, 'authority.crt');
  writeFileSync(authority, issuer.certificate);
  const tls = await serverCertificate(issuer);
  const registry = await startRegistry(folder, tls, signal);
  const site = await openDownloads(tls);
  const auth = logins(join(folder, 'logins.json'), [registry.address]);
  const images = new Map<string, PushedImage>();
  const parts = upstreamParts({ kubernetes: KUBERNETES, etcd: ETCD }, 'amd64');
  for (const { name, reference } of parts.images) {
    const format = name === 'kube-proxy' ? 'docker' : 'oci';
    const to = `${registry.address}/${reference}`;
    images.set(name, await push(to, auth, authority, { format, layerBytes: 300_000 }));
  }
  await serve(site);
  const run: Upstream['run'] = async (args, environment = {}) => {
    const before = { ...process.env };
    Object.assign(process.env, { SSL_CERT_FILE: authority, ...environment });
    for (const name of OTHERS) if (!(name in environment)) delete process.env[name];
    try {
      return await sno(args);
    } finally {
      for (const name of Object.keys(process.env)) delete process.env[name];
      Object.assign(process.env, before);
    }
  };
  const mirrors = [
    ...['--registry', registry.address, '--downloads', `https://127.0.0.1:${site.port}`],
    ...['--pull-secret', auth],
  ];
  const close = async () => {
    site.close();
    await registry.daemon.stop();
  };
  return { folder, registry, site, tls, images, authority, logins: auth, mirrors, run, close };
}

/** As the sites have them, with large programs. */
async function serve({ files }: TestSite): Promise<void> {
  const large = (text: string) => text.padEnd(400_000, text);
  files.set('dl.k8s.io/release/stable-1.37.txt', Buffer.from(`${KUBERNETES}\n`));
  for (const [arch, machine] of [
    ['amd64', undefined],
    ['arm64', ARM64],
  ] as const) {
    const options = machine === undefined ? {} : { machine };
    const kubelet = kubernetesProgram(large('kubelet'), options);
    const { downloads } = upstreamParts({ kubernetes: KUBERNETES, etcd: ETCD }, arch);
    for (const { name, url, checksums } of downloads) {
      const path = url.replace('https://', '');
      const file = path.slice(path.lastIndexOf('/') + 1);
      const contents = name === 'kubelet' ? kubelet : await archiveOf(name, file, options);
      const sums = name === 'kubelet' ? hex(contents) : `${hex(contents)}  ${file}\n`;
      files.set(path, contents);
      const before = files.get(checksums.replace('https://', '')) ?? Buffer.alloc(0);
      files.set(checksums.replace('https://', ''), Buffer.concat([before, Buffer.from(sums)]));
    }
  }
}

function archiveOf(name: string, file: string, options: { machine?: number }): Promise<Buffer> {
  const program = (each: string, main: string) =>
    programBytes({ ...options, modules: `path\t${main}\n`, text: each });
  const plugin = (each: string) =>
    program(each, `github.com/containernetworking/plugins/plugins/main/${each}`);
  const entries =
    name === 'etcdutl'
      ? ['etcd', 'etcdctl', 'etcdutl'].map((each) => {
          const at = `${file.replace('.tar.gz', '')}/${each}`;
          return [at, program(each, `go.etcd.io/etcd/${each}/v3`)] as const;
        })
      : ['bridge', 'dhcp', 'host-local', 'loopback', 'portmap'].map(
          (each) => [`./${each}`, plugin(each)] as const,
        );
  return tarOf([...entries, ['./README.md', 'text']]).then((tar) => gzipSync(tar));
}
