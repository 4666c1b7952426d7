import { join } from 'node:path';
import { z } from 'zod';
import { decodeDataUrl } from '../../../base/data-url.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import { type HostPaths, hostPaths } from '../../../host/paths.ts';
import { stateFile } from '../../../host/state-file.ts';
import { readConfig } from '../../../render/ignition/config.ts';
import { effectiveConfig } from '../../../render/ignition/validate.ts';
import { inPlacePlaces } from './places.ts';

/** Whether a metadata service still serves the user data of this host; for the record of the installation. */
export const userDataFile = ({ state }: Pick<HostPaths, 'state'>) =>
  stateFile(join(state, 'live/user-data.json'), z.object({ isServed: z.boolean() }), {
    damaged: 'none',
    mode: 0o644,
  });

/** Whether a text is the user data of this cluster's host, as `sno create in-place-ignition` writes it. */
export function isUserDataOf(clusterId: string, text: string): boolean {
  const read = readConfig(text);
  if (!read.ok) return false;
  const { files = [] } = effectiveConfig(read.config).config.storage ?? {};
  const { config } = inPlacePlaces(hostPaths());
  const found = files.find(({ path }) => path === config);
  if (found?.contents === undefined) return false;
  const contents = parseJson(decodeDataUrl(found.contents).toString('utf8'));
  return isRecord(contents) && contents.clusterId === clusterId;
}
