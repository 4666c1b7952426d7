import type { ReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExecaError, execa } from 'execa';
import { describeError, Failure } from '../base/errors/failure.ts';
import type { ContainerRuntime } from '../clients/cri/runtime.ts';
import type { ArchivedCopy, ImageImporter, ImportLimits } from './images.ts';
import { type Ctr, importInPlace } from './layers-in-store.ts';
import { configuredSandboxImage } from './sandbox-image.ts';
import { Snapshots } from './snapshots.ts';
import { type ChainedLayer, isUnpacked, removeUnpacked, unpackedDamage } from './unpacked.ts';

/** The label by which containerd's CRI reports an image as pinned (containerd 1.7; ignored before). */
const pinnedLabel = 'io.cri-containerd.pinned=pinned';

const containerdNamespace = 'k8s.io';

/**
 * Wait for containerd's CRI to notice a change by ctr: it is notified by an event
 * that other clients do not receive.
 */
const settle = { attempts: 100, delayMs: 100 } as const;

/**
 * Imports with containerd's own `ctr` and checks the result through its CRI. `root` is where containerd
 * has its files: `/var/lib/containerd`.
 */
export function containerdImporter(
  runtime: ContainerRuntime,
  root: string,
  program = 'ctr',
): ImageImporter {
  const common = ['--address', runtime.socket, '--namespace', containerdNamespace];
  const ctr: Ctr = (args, limits, input) => runCtr(program, [...common, ...args], limits, input);
  const images = (args: readonly string[], limits: ImportLimits) =>
    ctr(['images', ...args], limits);
  /** Until the runtime has this image by that name. The caller finds out if it never has. */
  const appear = async (reference: string, id: string | undefined, limits: ImportLimits) => {
    for (let attempt = 0; attempt < settle.attempts; attempt++) {
      const image = await runtime.imageStatus(reference, limits);
      if (image !== undefined && (id === undefined || image.id === id)) return;
      await sleep(settle.delayMs, undefined, { signal: limits.signal });
    }
  };
  return {
    prepare: async () => undefined,
    async sandboxImage(limits, warn) {
      const reported = (await runtime.status(limits)).sandboxImage;
      return reported ?? configuredSandboxImage(limits, warn);
    },
    find: (reference, limits) => runtime.imageStatus(reference, limits),
    async importArchive(image, limits) {
      const left = await whyNotInPlace(image, root, ctr, limits);
      if (left !== undefined) await images(['import', image.path], limits);
      await appear(image.reference, image.id, limits);
      return left === undefined ? undefined : `Imported ${image.name} as a whole: ${left}`;
    },
    async tag(reference, newReference, limits) {
      await images(['tag', '--force', reference, newReference], limits);
      const source = await runtime.imageStatus(reference, limits);
      await appear(newReference, source?.id, limits);
    },
    async pin(reference, limits) {
      await images(['label', reference, pinnedLabel], limits);
    },
    async damage(image, limits) {
      using snapshots = new Snapshots(runtime.socket, containerdNamespace);
      const folderOf = ({ chainId }: ChainedLayer) => snapshots.folderOf(chainId, limits);
      const found = await unpackedDamage(image, folderOf, limits);
      if (found !== undefined) return found;
      if (await isUnpacked(image, snapshots, limits)) return undefined;
      // An import that was interrupted may leave the name of an image whose layers never came.
      const named = await runtime.imageStatus(image.reference, limits);
      return named?.id === image.id ? 'it is not unpacked' : undefined;
    },
    async discard(damaged, limits) {
      using snapshots = new Snapshots(runtime.socket, containerdNamespace);
      await removeEndedPods(runtime, limits);
      for (const image of damaged) {
        // With its last name goes what nothing else needs, before the program ends.
        await images(['rm', '--sync', ...(await namesOf(image, runtime, limits))], limits);
      }
      for (const image of damaged) await removeUnpacked(image, snapshots, limits);
    },
  };
}

/** Why it is to be imported as a whole: also since ctr has refused. If that was for good, the whole import fails, too. */
async function whyNotInPlace(
  ...[image, root, ctr, limits]: Parameters<typeof importInPlace>
): Promise<string | undefined> {
  try {
    return await importInPlace(image, root, ctr, limits);
  } catch (error) {
    limits.signal.throwIfAborted();
    if (error instanceof Failure) return describeError(error);
    throw error;
  }
}

/** Every name by which the runtime knows an image, also those that CRI has not seen. */
async function namesOf(
  { reference, id }: ArchivedCopy,
  runtime: ContainerRuntime,
  limits: ImportLimits,
): Promise<string[]> {
  const found = await runtime.imageStatus(id, limits);
  return [...new Set([reference, id, ...(found?.repoTags ?? []), ...(found?.repoDigests ?? [])])];
}

/**
 * Removes the pods of earlier boots, whose containers need the files of their images. While one runs, none is
 * removed: the kubelet has its own view of them. One that cannot be removed is left to the kubelet, too.
 */
async function removeEndedPods(runtime: ContainerRuntime, limits: ImportLimits): Promise<void> {
  const pods = await runtime.listPodSandboxes(limits);
  if (pods.some(({ ready }) => ready)) return;
  for (const { id } of pods) {
    await runtime.removePodSandbox(id, limits).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
    });
  }
}

async function runCtr(
  program: string,
  args: readonly string[],
  limits: ImportLimits,
  input: Uint8Array | ReadStream | undefined,
): Promise<void> {
  const { signal, deadlineMs } = limits;
  signal.throwIfAborted();
  try {
    await execa(program, args, {
      cancelSignal: signal,
      timeout: deadlineMs,
      ...(input instanceof Uint8Array ? { input } : { stdin: input ?? 'ignore' }),
      stdout: 'ignore',
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof ExecaError)) throw error;
    const found = String(error.stderr ?? '')
      .trim()
      .split('\n')
      .at(-1);
    throw new Failure('retry', `${args.slice(4).join(' ')} failed in containerd`, {
      found: error.timedOut
        ? `not complete after ${deadlineMs / 1000} s`
        : found || error.shortMessage,
    });
  }
}
