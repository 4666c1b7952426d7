import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ensureComponent } from '../../lab/components/component.ts';
import { coreosInstaller } from '../../lab/components/coreos-installer.ts';
import { missingPrerequisites } from '../../lab/components/debian-packages.ts';
import { sha256 } from '../../lib/host/files.ts';
import { programBytes } from '../unit/payload/elf/program.ts';

/** Of a cluster whose pull secret is known. */
export const installConfig = {
  apiVersion: 'v1',
  baseDomain: 'example.com',
  metadata: { name: 'sno' },
  compute: [{ name: 'worker', replicas: 0 }],
  controlPlane: { name: 'master', replicas: 1 },
  platform: { none: {} },
  bootstrapInPlace: { installationDisk: '/dev/vda' },
  pullSecret: '{"auths":{"fake":{"auth":"aWQ6cGFzcwo="}}}',
};
/** The files of the payload, by their paths in it. */
export const payloadContents = {
  'images/kube-controller-manager.tar': randomBytes(3_000_000),
  'images/kube-controller-runtime.tar': randomBytes(70_000),
  'bin/kubelet': Buffer.concat([programBytes(), randomBytes(2_000_001)]),
};

/** A payload for such an ISO, and a file beside it that does not belong to it. */
export async function writeIsoPayload(folder: string): Promise<void> {
  const digest = (path: keyof typeof payloadContents) => sha256(payloadContents[path]);
  for (const name of ['images', 'bin']) await mkdir(join(folder, name), { recursive: true });
  for (const [path, content] of Object.entries(payloadContents))
    await writeFile(join(folder, path), content);
  const image = (name: 'kube-controller-manager' | 'kube-controller-runtime') => ({
    name,
    reference: `registry.k8s.io/${name}:v1.37.2`,
    id: `sha256:${'a'.repeat(64)}`,
    archive: `images/${name}.tar`,
    size: payloadContents[`images/${name}.tar`].length,
    sha256: digest(`images/${name}.tar`),
  });
  const description = {
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    architecture: 'amd64',
    versions: { kubernetes: 'v1.37.2', etcd: 'v3.6.8' },
    images: [image('kube-controller-manager'), image('kube-controller-runtime')],
    binaries: [
      {
        name: 'kubelet',
        file: 'bin/kubelet',
        size: payloadContents['bin/kubelet'].length,
        sha256: digest('bin/kubelet'),
      },
    ],
  };
  await writeFile(join(folder, 'payload.yaml'), stringify(description));
  await writeFile(join(folder, 'not-named'), 'not taken along');
}

/** Puts coreos-installer in PATH. What is missing to make an ISO here, in words; undefined if nothing is. */
export async function missingForIso(signal: AbortSignal): Promise<string | undefined> {
  const lacks = await missingPrerequisites();
  if (lacks.length > 0) return lacks.join('; ');
  const report = (line: string) => process.stderr.write(`coreos-installer: ${line}\n`);
  process.env.PATH = `${await ensureComponent(coreosInstaller, { signal, report })}:${process.env.PATH}`;
  return undefined;
}
