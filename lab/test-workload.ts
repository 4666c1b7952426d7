import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeProgramImage } from '../lib/image/write.ts';

export const HELLO_IMAGE = 'registry.lab/hello:1';

/**
 * Image archive of a workload for the tests: busybox with its httpd. Not part of the payload.
 * The command comes from the pod, for example
 * `['httpd', '-f', '-p', '8080', '-h', '/tmp']`.
 */
export async function writeHelloImage(archive: string, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(archive), { recursive: true });
  const applets = ['busybox', 'sh', 'httpd', 'wget', 'cat'];
  const files = applets.map((name) => ({ path: `usr/local/bin/${name}`, source: '/bin/busybox' }));
  const entrypoint = ['/usr/local/bin/busybox'];
  const image = { reference: HELLO_IMAGE, architecture: 'amd64', files, entrypoint } as const;
  await writeProgramImage(archive, image, signal);
}
