import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../base/errors/failure.ts';
import type { ContainerRuntime } from '../clients/cri/runtime.ts';
import { run } from '../host/command.ts';
import { exists, readTextIfPresent, sha256, writeFileAtomic } from '../host/files.ts';
import { runOutsideSandbox } from '../host/outside-sandbox.ts';
import type { HostPaths } from '../host/paths.ts';
import type { ImageImporter, ImportLimits, NamedImages } from './images.ts';
import { type ChainedLayer, unpackedDamage } from './unpacked.ts';

/** The images that the kubelet must keep, and the image of every pod sandbox: crio.conf.d(5). */
const CONFIGURATION = '/etc/crio/crio.conf.d/60-sno-agents.conf';

/** Where containers-storage has unpacked layers, each in a folder of its id. */
const LAYERS = '/var/lib/containers/storage/overlay';

const UNIT = 'crio.service';
const RELOAD_MS = 60_000;

/** CRI-O takes up a changed configuration when it gets SIGHUP, and does not say when it has. */
const settle = { attempts: 50, delayMs: 100 } as const;

/**
 * Imports with podman, which has the same storage as CRI-O (containers-storage.conf(5)), as a unit of
 * its own: unpacking an image needs rights that no agent has. Checks the result through CRI.
 */
export function crioImporter(runtime: ContainerRuntime, { at }: HostPaths): ImageImporter {
  const podman = (args: readonly string[], limits: ImportLimits) =>
    runOutsideSandbox('podman', args, limits);
  return {
    async prepare(payload, limits) {
      await configure(at(CONFIGURATION), payload, limits);
    },
    // Named in the configuration, so that no other name is needed.
    sandboxImage: async () => undefined,
    find: (reference, limits) => runtime.imageStatus(reference, limits),
    async importArchive({ path }, limits) {
      await podman(['load', '--quiet', '--input', path], limits);
      return undefined;
    },
    async tag(reference, newReference, limits) {
      await podman(['tag', reference, newReference], limits);
    },
    async pin(reference, limits) {
      const isPinned = async () => (await runtime.imageStatus(reference, limits))?.pinned === true;
      if (await becomes(isPinned, limits.signal)) return;
      // An attempt that was killed may have written the configuration without a reload.
      await reload(limits);
      if (await becomes(isPinned, limits.signal)) return;
      throw new Failure('retry', `CRI-O does not pin ${reference}`, {
        subject: reference,
        expected: `CRI-O 1.28 or newer, with ${CONFIGURATION}`,
        fix: 'See "journalctl -u crio".',
      });
    },
    // Only where crio-wipe.service is enabled, CRI-O deletes its store after an unclean shutdown. Its own check
    // then (internal_repair in crio.conf(5)) does not read files.
    async damage(image, limits) {
      const folderOf = async ({ diffIds }: ChainedLayer) => {
        const folder = join(at(LAYERS), layerId(diffIds), 'diff');
        return (await exists(folder)) ? folder : undefined;
      };
      return unpackedDamage(image, folderOf, limits);
    },
    async discard(damaged, limits) {
      for (const { path, reference } of damaged) {
        const find = () => runtime.imageStatus(reference, limits);
        // A layer that no image names would be used as it is.
        if ((await find()) === undefined)
          await podman(['load', '--quiet', '--input', path], limits);
        const names = (await find())?.repoTags ?? [reference];
        // Not by force, which would remove containers. What one needs stays, and is found again.
        await podman(['rmi', ...names], limits).catch((error: unknown) => {
          if (!(error instanceof Failure)) throw error;
        });
      }
    },
  };
}

/** By which containers-storage knows a layer, from the diff ids of the layers from the lowest to this one. */
const layerId = (diffIds: readonly string[]): string =>
  diffIds.reduce((below, diffId) => sha256(`${below}+${diffId}`));

async function configure(path: string, payload: NamedImages, limits: ImportLimits): Promise<void> {
  const text = configurationOf(payload);
  if ((await readTextIfPresent(path)) === text) return;
  await writeFileAtomic(path, text, 0o644);
  await reload(limits);
}

async function reload({ signal }: ImportLimits): Promise<void> {
  await run('systemctl', ['reload', UNIT], { signal, deadlineMs: RELOAD_MS });
}

async function becomes(isSo: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  for (let attempt = 0; attempt < settle.attempts; attempt++) {
    if (await isSo()) return true;
    await sleep(settle.delayMs, undefined, { signal });
  }
  return false;
}

/** In TOML, whose basic strings are written like those of JSON. */
function configurationOf({ images }: NamedImages): string {
  const references = images.map(({ reference }) => reference);
  const pause = images.find(({ name }) => name === 'pause')?.reference;
  return [
    '[crio.image]',
    ...(pause === undefined ? [] : [`pause_image = ${JSON.stringify(pause)}`]),
    `pinned_images = ${JSON.stringify(references)}`,
    '',
  ].join('\n');
}
