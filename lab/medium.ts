import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../lib/host/command.ts';
import { LIVE_ISO } from './components/live-iso.ts';
import { OS_IMAGE } from './components/os-image.ts';
import { quickly } from './host/command.ts';
import { serveFiles } from './host/http-server.ts';
import { teardownSignal } from './host/mount.ts';
import { type CreatedInstallation, createdIn, runCreate } from './install-config.ts';
import type { LabContext } from './scenario.ts';
import { DISK } from './site.ts';

/** Of the web server with a user's own image. */
const PORT = 8080;

/** coreos-installer's arguments on a live host, which has an image with it. Serves a user's own image: to be called once. */
export async function installerOf({
  components,
  imageSource,
  teardown,
}: LabContext): Promise<string> {
  if (imageSource !== 'served') return DISK;
  const url = await serveFiles(components.osImage, PORT, teardown);
  return `--insecure --image-url ${url}/${OS_IMAGE} ${DISK}`;
}

/** An installation whose live host boots from an ISO. */
export interface Medium extends CreatedInstallation {
  /** The ISO, and a folder with its contents. */
  readonly medium: { readonly iso: string; readonly folder: string };
}

/**
 * Creates the ISO of an installation and mounts it; the Ignition config is read back from it. `own`: arguments for what the
 * administrator adds.
 */
export async function makeMedium(
  context: LabContext,
  installation: string,
  { installer, own }: { readonly installer: string; readonly own: readonly string[] },
): Promise<Medium> {
  const { components, folder, signal } = context;
  const iso = join(folder, 'live.iso');
  const template = join(components.liveIso, LIVE_ISO);
  await runCreate('single-node-iso', installation, {
    installer,
    options: ['--iso', template, '--payload', components.payload, '--output', iso, ...own],
    env: { PATH: `${components.coreosInstaller}:${process.env.PATH}` },
    signal,
  });
  const ignition = join(folder, 'embedded.ign');
  const coreosInstaller = join(components.coreosInstaller, 'coreos-installer');
  const show = ['iso', 'ignition', 'show', iso];
  const config = await run(coreosInstaller, show, { signal, deadlineMs: 60_000 });
  await writeFile(ignition, config, { mode: 0o600 });
  const medium = join(folder, 'medium');
  await mountIso(iso, medium, context);
  return { ...createdIn(installation), ignition, medium: { iso, folder: medium } };
}

/** `target` is created. With FUSE, since not every kernel supports iso9660. */
export async function mountIso(
  iso: string,
  target: string,
  { teardown, signal }: LabContext,
): Promise<void> {
  await mkdir(target);
  await quickly('fuseiso', ['-n', iso, target, '-o', 'ro,allow_other,kernel_cache'], signal);
  teardown.add(`unmount ${target}`, async () => {
    await quickly('umount', [target], teardownSignal());
  });
}
