import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { programsIn, upstreamParts } from '../../cli/payload/fetch/upstream.ts';
import { addFile, tarOf } from '../../lib/base/archive/tar-writer.ts';
import { run } from '../../lib/host/command.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { createAuthority } from '../certificates/signed-now.ts';
import { ETCD_VERSION } from '../components/versions.ts';
import type { Teardown } from '../host/teardown.ts';
import { logins, serverCertificate, startRegistry } from '../servers/upstream/registry.ts';
import { openDownloads } from '../servers/upstream/site.ts';

const PUSH_MS = 180_000;

/** A mirror of a site's own: a registry with TLS and a login, and the download sites. */
export interface UpstreamMirror {
  /** What `sno create payload` needs beside the documented arguments, to fetch from there. */
  readonly more: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Serves the images and programs of a payload of the lab at the addresses that upstream has for them. */
export async function mirrorUpstream(
  folder: string,
  from: { readonly payload: string; readonly kubernetes: string },
  teardown: Teardown,
  signal: AbortSignal,
): Promise<UpstreamMirror> {
  await mkdir(folder);
  const issuer = await createAuthority('Mirror of the lab');
  const authority = join(folder, 'authority.crt');
  await writeFile(authority, issuer.certificate);
  const tls = await serverCertificate(issuer);
  const registry = await startRegistry(folder, tls, signal);
  teardown.add('stop the registry', () => registry.daemon.stop());
  const site = await openDownloads(tls);
  teardown.add('stop the download sites', async () => site.close());
  const auth = logins(join(folder, 'logins.json'), [registry.address]);
  const payload = await readPayload(from.payload);
  const etcd = `v${ETCD_VERSION}`;
  const parts = upstreamParts({ kubernetes: from.kubernetes, etcd }, 'amd64');
  for (const { name, reference } of parts.images) {
    const image = payload.images.find((each) => each.name === name);
    if (image === undefined) throw new Error(`the payload of the lab has no ${name}`);
    const archive = `docker-archive:${join(from.payload, image.archive)}`;
    const target = `docker://${registry.address}/${reference}`;
    await run('skopeo', ['copy', '-q', '--authfile', auth, archive, target], {
      ...{ signal, deadlineMs: PUSH_MS },
      env: { SSL_CERT_FILE: authority },
    });
  }
  const programs = new Map(
    payload.binaries.map(({ name, file }) => [name, join(from.payload, file)]),
  );
  for (const { name, url, checksums } of parts.downloads) {
    const file = await downloadOf(name, programs, signal);
    const sum = createHash('sha256').update(file).digest('hex');
    site.files.set(withoutScheme(url), file);
    site.files.set(withoutScheme(checksums), Buffer.from(`${sum}  ${url.replace(/.*\//, '')}\n`));
  }
  return {
    more: [
      ...['--registry', registry.address, '--downloads', `https://127.0.0.1:${site.port}`],
      ...['--pull-secret', auth, '--etcd-version', etcd],
    ],
    env: { SSL_CERT_FILE: authority },
  };
}

const withoutScheme = (url: string) => url.replace('https://', '');

/** A program as it is, or an archive of several. */
async function downloadOf(
  name: string,
  programs: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<Buffer> {
  const path = (program: string) => {
    const found = programs.get(program);
    if (found === undefined) throw new Error(`the payload of the lab has no ${program}`);
    return found;
  };
  const contained = programsIn(name);
  if (contained === undefined) return readFile(path(name));
  const tar = tarOf(async (archive) => {
    for (const program of contained) {
      await addFile(archive, `./${program}`, path(program), 0o755, signal);
    }
  });
  return buffer(tar.pipe(createGzip({ level: 1 })));
}
