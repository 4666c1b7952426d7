import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { run } from '../../lib/host/command.ts';

const CREATED = '1970-01-01T00:00:00Z';
const environment = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];

/** Fields of the OCI image configuration. */
export interface RunConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly User?: string;
}

/** Writes `<tree>.tar`, sorted and without times: the same files give the same layer. */
export async function writeTreeLayer(tree: string, signal: AbortSignal): Promise<string> {
  const tar = `${tree}.tar`;
  const fixed = ['--sort=name', '--mtime=@0', '--numeric-owner', '--format=gnu'];
  // Device nodes of debootstrap's /dev are made by the container runtime.
  const args = [...fixed, '--exclude=./dev/*', '-C', tree, '-cf', tar, '.'];
  await run('tar', args, { signal, deadlineMs: 120_000 });
  return tar;
}

/** Copies a program to its path in a tree. */
export async function addProgram(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  await copyFile(source, target);
  await chmod(target, 0o755);
}

/** The configuration of an image for amd64, its lowest layer first. */
export function imageConfig(config: RunConfig, layers: readonly { diffId: string }[]): Buffer {
  return Buffer.from(
    JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      created: CREATED,
      config: { Env: environment, WorkingDir: '/', ...config },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => `sha256:${diffId}`) },
      history: layers.map(() => ({ created: CREATED })),
    }),
  );
}
