import { readFile, readlink, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path/posix';
import { readAuthority } from '../../agents/steps/leaf-files.ts';
import { exists } from '../../lib/host/files.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { certificatesIn, inspectCertificate, parseCertificate } from '../../lib/pki/certificate.ts';
import { certifyKey } from '../../lib/pki/leaf.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import { type Leaf, leafCatalogue } from '../../lib/render/kubernetes/leaves.ts';

const DAY_MS = 86_400_000;

/** The kubelet's serving certificate, which its own authority signed for a request. */
export const kubeletServing: Leaf = {
  name: 'kubelet-serving',
  certificate: kubeletPaths.servingPair,
  key: kubeletPaths.servingPair,
  authority: 'kubelet-serving',
};

/** Of a running host: those of the bootstrap are gone. */
export async function leavesOf(rootDir: string): Promise<Leaf[]> {
  const found: Leaf[] = [];
  for (const leaf of leafCatalogue) {
    if (await exists(await fileOf(rootDir, leaf))) found.push(leaf);
  }
  return found;
}

/** Behind the kubelet's link, which is absolute on the host. */
async function fileOf(rootDir: string, { certificate }: Leaf): Promise<string> {
  const { at } = hostPaths(rootDir);
  const target = await readlink(at(certificate)).catch(() => certificate);
  return at(isAbsolute(target) ? target : join(dirname(certificate), target));
}

/** Lower-case hex. */
export async function serialOf(rootDir: string, leaf: Leaf): Promise<string> {
  return inspectCertificate(await readFile(await fileOf(rootDir, leaf), 'utf8')).serialNumber;
}

/**
 * Puts in place of a certificate the one that would be there if it had been issued that many days
 * ago: same key, names and authority. What is presented together with it stays.
 */
export async function age(rootDir: string, leaf: Leaf, days: number): Promise<void> {
  const paths = hostPaths(rootDir);
  const path = await fileOf(rootDir, leaf);
  const pem = await readFile(path, 'utf8');
  const { subject, clientAuth, serverAuth, ...names } = inspectCertificate(pem);
  const usage = clientAuth && serverAuth ? 'both' : clientAuth ? 'client' : 'server';
  const then = new Date(Date.now() - days * DAY_MS);
  const old = await certifyKey(
    await readAuthority(paths, leaf.authority),
    parseCertificate(pem).publicKey,
    { subject, usage, ...names },
    { now: then, validFrom: then },
  );
  const [, ...others] = certificatesIn(pem);
  const key = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+/.exec(pem)?.[0] ?? '';
  // In the same file, with its mode.
  await writeFile(path, [old, ...others, key].join(''));
}
