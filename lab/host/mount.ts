import { mkdir } from 'node:fs/promises';
import { quickly } from './command.ts';
import type { Teardown } from './teardown.ts';

export interface MountOptions {
  readonly type?: string;
  readonly options?: readonly string[];
}

/** Teardown must continue after the run was aborted, so it has its own time limit. */
export const teardownSignal = () => AbortSignal.timeout(60_000);

/** Creates `target` and mounts `source` there; unmounting is added to the teardown. */
export async function mount(
  source: string,
  target: string,
  { type, options = [] }: MountOptions,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(target, { recursive: true });
  const typed = type === undefined ? [] : ['-t', type];
  const chosen = options.length === 0 ? [] : ['-o', options.join(',')];
  await quickly('mount', [...typed, ...chosen, source, target], signal);
  teardown.add(`unmount ${target}`, async () => {
    await quickly('umount', ['--recursive', target], teardownSignal());
  });
}
