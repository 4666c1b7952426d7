import { join } from 'node:path/posix';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { Settings } from '../../lib/host/settings.ts';

/** The installation stage of this host; decides its folder in the bundle and its sources. */
export type HostStage = 'live' | 'installed';

/** Passed to every source of the catalogue. */
export interface GatherHost {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly stage: HostStage;
  /**
   * Folder of this host's own logs in the bundle: `bootstrap`, `control-plane/master`, or none
   * (''), when the bundle is one host's part of a larger one.
   */
  readonly folder: string;
  /** Working folder for unpacking archives, 0700; removed at the end. */
  readonly work: string;
  /** Collect only what is newer, where a source supports it: milliseconds since 1970. */
  readonly sinceMs?: number;
}

/** A deadline of a source or request on this host, in milliseconds. */
export const patient = ({ settings }: Pick<GatherHost, 'settings'>, ms: number): number =>
  (ms * settings.gatherPatiencePercent) / 100;

/** A path among this host's own logs in the bundle. */
export const own = ({ folder }: GatherHost, path: string): string => join(folder, path);

/** Failed units go where existing tools look: at the root of the bootstrap host's bundle. */
export const ownUnits = ({ stage, folder }: GatherHost, path: string): string =>
  stage === 'live' ? path : join(folder, path);
