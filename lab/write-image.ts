import { link, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { OS_IMAGE } from './components/os-image.ts';
import type { Host, HostOptions } from './host/host.ts';
import { bootLiveHost } from './host/live-host.ts';
import type { LabContext } from './scenario.ts';
import { DISK } from './site.ts';

const WRITE_MS = 5 * 60_000;

/**
 * Writes the image to a host's disk with an Ignition config, as a person does from a live image with
 * coreos-installer. `started` waits until the live host has booted.
 */
export async function writeImage(
  options: HostOptions,
  { osImage, ignition }: { readonly osImage: string; readonly ignition: string },
  { components, signal }: LabContext,
  started: (host: Host) => Promise<Host>,
): Promise<void> {
  const medium = join(options.folder, `${options.label}-medium`);
  await mkdir(join(medium, 'images'), { recursive: true });
  await link(osImage, join(medium, 'images', OS_IMAGE));
  await link(ignition, join(medium, 'host.ign'));
  const image = join(components.rootFilesystem, 'tree');
  const host = await started(await bootLiveHost({ ...options, image, medium }, signal));
  const command = [
    ...['coreos-installer', 'install', '--offline', '--insecure'],
    ...['--image-file', `/run/media/iso/images/${OS_IMAGE}`],
    ...['--ignition-file', '/run/media/iso/host.ign', DISK],
  ];
  const { exitCode, stderr } = await host.exec(command, { timeoutMs: WRITE_MS }, signal);
  await host.stop();
  if (exitCode !== 0) {
    throw new Failure('fatal', 'coreos-installer failed', { found: stderr.slice(-2000) });
  }
}
