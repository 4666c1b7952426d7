import { z } from 'zod';
import { parseJson } from '../../../lib/base/json.ts';
import { isDecided, readAsked, writeWanted } from '../../../lib/change/update/wanted.ts';
import type { ReportTo } from '../../../lib/engine/report/report-to.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

/** What the hub answers to a report: the Site. Of that, what is wanted of the node now. */
const siteSchema = z.object({
  spec: z.object({
    action: z.string(),
    serial: z.int(),
    update: z
      .object({ url: z.string().regex(/^https?:\/\/[!-~]{1,2040}$/), serial: z.int().min(1) })
      .optional()
      .catch(undefined),
  }),
});
export type WantedOfNode = z.infer<typeof siteSchema>['spec'];

const AGAIN_MS = 10 * 60_000;

/** Undefined for an answer that is no Site. */
export const wantedIn = (body: string): WantedOfNode | undefined =>
  siteSchema.safeParse(parseJson(body)).data?.spec;

/**
 * Hands an update over to `sno-update`, which judges it. Nothing else of a Site is done by its node: a volume comes by the ways
 * that its factory has fixed.
 */
export async function heed(
  paths: HostPaths,
  { uid, namespace, name }: Extract<ReportTo, { readonly hub: unknown }>['hub'],
  { action, serial, update }: WantedOfNode,
): Promise<void> {
  if (action !== 'update' || update === undefined) return;
  const site = uid ?? `${namespace}/${name}`;
  const asked = await readAsked(paths);
  if (isDecided(asked, { site, serial })) return;
  // What became of it is reported, and the answer to that says the same again.
  const age = Date.now() - Date.parse(asked?.at ?? '');
  if (asked?.outcome === 'waiting' && asked.serial === serial && age >= 0 && age < AGAIN_MS) return;
  const { url, serial: wanted } = update;
  await writeWanted(paths, { schemaVersion: 1, site, serial, url, update: wanted });
}
