import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { run } from '../lib/host/command.ts';
import { exists } from '../lib/host/files.ts';
import { writeProgramImage } from '../lib/payload/image/write.ts';
import type { Host } from './host/host.ts';
import { patient } from './patience.ts';

export const HELLO_IMAGE = 'registry.lab/hello:1';

/**
 * Image archive of a workload for the tests: busybox with its httpd. Not part of the payload.
 * The command comes from the pod, for example
 * `['httpd', '-f', '-p', '8080', '-h', '/tmp']`.
 */
async function writeHelloImage(archive: string, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(archive), { recursive: true });
  const applets = ['busybox', 'sh', 'httpd', 'wget', 'cat'];
  const files = applets.map((name) => ({ path: `usr/local/bin/${name}`, source: '/bin/busybox' }));
  const entrypoint = ['/usr/local/bin/busybox'];
  const image = { reference: HELLO_IMAGE, architecture: 'amd64', files, entrypoint } as const;
  await writeProgramImage(archive, image, signal);
}

/** Imports the image into the container runtime of a host; `archive` is where it is written first. */
export async function importHelloImage(
  host: Host,
  archive: string,
  signal: AbortSignal,
): Promise<void> {
  await writeHelloImage(archive, signal);
  const inHost = join(host.rootDir, 'var/tmp/hello.tar');
  await run('cp', [archive, inHost], { signal, deadlineMs: patient(20_000) });
  const hasCrio = await exists(join(host.rootDir, 'etc/crio'));
  const load = hasCrio
    ? ['podman', 'load', '--input']
    : ['ctr', '-n', 'k8s.io', 'images', 'import'];
  const command = [...load, '/var/tmp/hello.tar'];
  const { exitCode, stderr } = await host.exec(command, { timeoutMs: 30_000 }, signal);
  if (exitCode !== 0) throw new Failure('fatal', 'the image cannot be imported', { found: stderr });
}
