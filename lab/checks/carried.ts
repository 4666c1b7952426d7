import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { type Ledger, ledgerPath, ledgerSchema } from '../../lib/cluster/installation/ledger.ts';
import {
  RESTORE_FOLDER,
  SNAPSHOT_RECORD_FILE,
  type SnapshotRecord,
  snapshotRecordSchema,
} from '../../lib/cluster/installation/snapshot-record.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { type IgnitionConfig, parseConfig } from '../../lib/render/ignition/config.ts';
import { effectiveConfig } from '../../lib/render/ignition/validate.ts';

/** Data carried to the installed host by the combined Ignition, as far as the checks use it. */
export interface Carried {
  readonly ledger: Ledger;
  readonly snapshot: SnapshotRecord;
}

/** Reads it from the boot partition: the first boot deletes the config. */
export const readCarried = (boot: string): Promise<Carried> =>
  readCarriedIn(join(boot, 'ignition/config.ign'));

/** The same from the file of a combined Ignition config. */
export async function readCarriedIn(path: string): Promise<Carried> {
  const { config } = effectiveConfig(parseConfig(await readFile(path, 'utf8'), path));
  const paths = hostPaths();
  const record = join(paths.state, RESTORE_FOLDER, SNAPSHOT_RECORD_FILE);
  return {
    ledger: ledgerSchema.parse(jsonOf(config, ledgerPath(paths))),
    snapshot: snapshotRecordSchema.parse(jsonOf(config, record)),
  };
}

function jsonOf(config: IgnitionConfig, path: string): unknown {
  const file = config.storage?.files?.find((each) => each.path === path);
  if (file?.contents === undefined)
    throw new Error(`the combined Ignition does not contain ${path}`);
  return JSON.parse(decodeDataUrl(file.contents).toString('utf8'));
}
