import { hasCounted } from '../../../lib/engine/trial/judge.ts';
import { readTrial } from '../../../lib/engine/trial/store.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import type { BootMoment } from '../../../lib/host/boot-moment.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

/** The host before its network and its kubelet: nothing else of it can be relied on. */
export interface TrialContext {
  readonly paths: HostPaths;
  /** The moment of this run. */
  readonly now: BootMoment;
  /**
   * Whether this is the first run in this boot, which systemd orders before the network and the
   * kubelet. Only then are files put back under them.
   */
  readonly isFirstRun: boolean;
}

/** @throws Failure (fatal) if the record of a trial cannot be read */
export async function trialContext(paths: HostPaths): Promise<TrialContext> {
  const now = await bootMoment();
  const trial = await readTrial(paths);
  return { paths, now, isFirstRun: trial !== undefined && !hasCounted(trial, now) };
}
