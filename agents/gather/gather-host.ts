import { join } from 'node:path/posix';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { Settings } from '../../lib/host/settings.ts';

/** The part of an installation that this host is in; decides its folder in the bundle and its sources. */
export type Stage = 'live' | 'installed';

/** What every source of the catalogue is given. */
export interface GatherHost {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly stage: Stage;
  /**
   * Folder of this host's own logs in the bundle: `bootstrap`, `control-plane/master`, or none
   * (''), when the bundle is one host's part of a larger one.
   */
  readonly folder: string;
  /** For what has to be unpacked before it is a source, 0700; removed with everything else. */
  readonly work: string;
  /** Only what is newer, where a source can tell: a moment in milliseconds since 1970. */
  readonly sinceMs?: number;
}

/** A path of this host's own logs in the bundle. */
export const own = ({ folder }: GatherHost, path: string): string => join(folder, path);

/** The failed units are where existing tools look: at the root of the bootstrap host's bundle. */
export const ownUnits = ({ stage, folder }: GatherHost, path: string): string =>
  stage === 'live' ? path : join(folder, path);
