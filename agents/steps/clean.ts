import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import {
  isLeft,
  type LedgerEntry,
  ledgerPath,
  readLedger,
} from '../../lib/cluster/installation/ledger.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, removeOverwritten } from '../../lib/host/files.ts';
import { runOutsideSandbox } from '../../lib/host/outside-sandbox.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { disableUnit, reloadUnits } from '../../lib/host/systemd.ts';
import type { PlainHost } from './host-context.ts';
import { inOtherDeployments, leftEntries } from './left-entries.ts';
import { mountedPaths, neededMount } from './mounted-paths.ts';
import { removeInDeployments } from './other-deployments.ts';

/** CoreOS deletes this at its first boot; other operating systems may not. */
const BOOT_IGNITION = '/boot/ignition/config.ign';
const TRIM_MS = 30_000;

/**
 * Deletes the files in the ledger one by one: only if the contents are still those that the
 * bootstrap installed, and only if no running container mounts the file. Nothing is deleted by
 * pattern. Keys and Secrets are among them, in the clear: what the disk has of them is overwritten.
 */
export const clean: StepBody<PlainHost> = {
  name: 'clean',
  leaves: 'none of the files that the leftovers ledger lists',
  touches: ['disk', 'systemd'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  async holds({ paths }, { signal }) {
    const entries = (await readLedger(paths))?.entries ?? [];
    const all = [...entries, ...(await inOtherDeployments(paths, { entries }))];
    return (await leftEntries(paths, all, signal)).length === 0;
  },
  async run({ paths }, progress) {
    const { signal } = progress;
    const ledger = await readLedger(paths);
    if (ledger === undefined) {
      throw new Failure('fatal', `the leftovers ledger ${ledgerPath(paths)} does not exist`, {
        code: 'leftover-remains',
      });
    }
    const mounted = await mountedPaths(paths, signal);
    const all = ledger.entries.map(({ path }) => paths.at(path));
    let removed = 0;
    for (const entry of ledger.entries) {
      if (await isLeft(paths, entry, signal)) {
        refuseMounted(entry, await neededMount(paths.at(entry.path), mounted, all));
        if (entry.unit !== undefined) await disableUnit(entry.unit, signal);
        await removeOverwritten(paths.at(entry.path));
        removed += 1;
        progress.say(`Removed ${entry.path}: ${entry.why}`);
      } else if (await exists(paths.at(entry.path))) {
        progress.warn(`Kept ${entry.path}: its contents have changed since the bootstrap`);
      }
    }
    const others = await leftEntries(paths, await inOtherDeployments(paths, ledger), signal);
    await removeInDeployments(
      paths,
      others.map(({ path }) => path),
      'overwritten',
      signal,
    );
    for (const { path, why } of others) progress.say(`Removed ${path}: ${why}`);
    if (ledger.entries.some(({ unit }) => unit !== undefined)) await reloadUnits(signal);
    if (await removeOverwritten(paths.at(BOOT_IGNITION))) progress.say(`Removed ${BOOT_IGNITION}`);
    await giveUpFreeBlocks(paths, progress);
    return done(
      `${removed} of ${ledger.entries.length} files deleted, the others no longer existed`,
    );
  },
};

/**
 * Has the disk forget what is free on /boot: CoreOS deletes the Ignition config there before any agent starts, and it has
 * keys and Secrets. Not every disk can, and nothing depends on it.
 */
async function giveUpFreeBlocks(paths: HostPaths, progress: Progress): Promise<void> {
  const boot = paths.at('/boot');
  if (!(await exists(boot))) return;
  const limits = { signal: progress.signal, deadlineMs: TRIM_MS };
  await runOutsideSandbox('fstrim', [boot], limits).catch((error: unknown) => {
    progress.signal.throwIfAborted();
    progress.say(`The disk does not forget the free blocks of /boot: ${describeError(error)}`);
  });
}

function refuseMounted({ path }: LedgerEntry, mount: string | undefined): void {
  if (mount === undefined) return;
  throw new Failure('retry', `a running container mounts ${mount}, which contains ${path}`, {
    code: 'leftover-remains',
  });
}
