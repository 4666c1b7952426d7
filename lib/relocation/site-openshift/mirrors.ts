import type { ImageMirror } from '../../config/cluster/cluster.ts';
import { SITE } from './names.ts';
import { openShiftResources } from './resources.ts';
import { onlyThese, present, type SiteWrite } from './site-write.ts';

const kinds = [
  { kind: 'ImageDigestMirrorSet', field: 'imageDigestMirrors', digestOnly: true },
  { kind: 'ImageTagMirrorSet', field: 'imageTagMirrors', digestOnly: false },
] as const;

/**
 * The mirrors of a site in place of all others. The new ones are there before the old ones go: in between, an image has a
 * mirror too many, and never none.
 */
export function mirrorWrites(mirrors: readonly ImageMirror[]): SiteWrite[] {
  const sets = kinds.map((each) => ({
    ...each,
    resource: each.digestOnly ? openShiftResources.digestMirrors : openShiftResources.tagMirrors,
    entries: mirrors.filter(({ digestOnly }) => digestOnly === each.digestOnly).map(entryOf),
  }));
  const needed = sets.filter(({ entries }) => entries.length > 0);
  return [
    ...needed.map(({ kind, field, resource, entries }) =>
      present(`${kind} ${SITE.mirrors}`, resource, { name: SITE.mirrors }, (found) => ({
        ...(found ?? { apiVersion: resource.apiVersion, kind, metadata: { name: SITE.mirrors } }),
        spec: { [field]: entries },
      })),
    ),
    ...sets.map(({ kind, resource, entries }) =>
      onlyThese(`other ${kind}s`, resource, entries.length > 0 ? [SITE.mirrors] : []),
    ),
    onlyThese('ImageContentSourcePolicies', openShiftResources.contentPolicies, []),
  ];
}

const entryOf = ({ source, mirrors, neverContactSource }: ImageMirror) => ({
  source,
  mirrors,
  mirrorSourcePolicy: neverContactSource ? 'NeverContactSource' : 'AllowContactingSource',
});
