import { setTimeout as sleep } from 'node:timers/promises';
import { ExecaError, execa } from 'execa';
import type { ContainerRuntime } from '../cri/runtime.ts';
import { Failure } from '../errors/failure.ts';
import type { ImageImporter, ImportLimits } from './images.ts';

/** The label by which containerd's CRI reports an image as pinned (containerd 1.7; ignored before). */
const pinnedLabel = 'io.cri-containerd.pinned=pinned';

const containerdNamespace = 'k8s.io';

/**
 * Wait for containerd's CRI to notice a change by ctr: it is notified by an event
 * that other clients do not receive.
 */
const settle = { attempts: 20, delayMs: 100 } as const;

/** Imports with containerd's own `ctr` and checks the result through its CRI. */
export function containerdImporter(runtime: ContainerRuntime, ctr = 'ctr'): ImageImporter {
  const images = (args: readonly string[], limits: ImportLimits) =>
    runCtr(
      ctr,
      ['--address', runtime.socket, '--namespace', containerdNamespace, 'images', ...args],
      limits,
    );
  const appear = async (reference: string, limits: ImportLimits, as?: string) => {
    for (let attempt = 0; attempt < settle.attempts; attempt++) {
      const image = await runtime.imageStatus(reference, limits);
      if (image !== undefined && (as === undefined || image.id === as)) return;
      await sleep(settle.delayMs, undefined, { signal: limits.signal });
    }
  };
  return {
    prepare: async () => undefined,
    async sandboxImage(limits) {
      return (await runtime.status(limits)).sandboxImage;
    },
    find: (reference, limits) => runtime.imageStatus(reference, limits),
    async importArchive(archive, limits) {
      const output = await images(['import', archive], limits);
      for (const reference of importedReferences(output)) await appear(reference, limits);
    },
    async tag(reference, newReference, limits) {
      await images(['tag', '--force', reference, newReference], limits);
      const source = await runtime.imageStatus(reference, limits);
      await appear(newReference, limits, source?.id);
    },
    async pin(reference, limits) {
      await images(['label', reference, pinnedLabel], limits);
    },
  };
}

/** ctr prints `unpacking <reference> (sha256:…)...done` for each image. */
function importedReferences(output: string): string[] {
  return [...output.matchAll(/^unpacking (\S+) \(/gm)].map(([, reference = '']) => reference);
}

async function runCtr(
  program: string,
  args: readonly string[],
  limits: ImportLimits,
): Promise<string> {
  const { signal, deadlineMs } = limits;
  signal.throwIfAborted();
  try {
    const options = {
      cancelSignal: signal,
      timeout: deadlineMs,
      stdin: 'ignore',
      all: true,
    } as const;
    return (await execa(program, args, options)).all;
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
