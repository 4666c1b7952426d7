import { z } from 'zod';
import type { KubeObject } from '../../clients/kube/resources.ts';

/** A revision of a static pod that an operator has made. */
export const revisionSchema = z.object({
  component: z.string(),
  revision: z.int(),
  reason: z.string().describe('why the operator made it'),
});

export type Revision = z.infer<typeof revisionSchema>;

/** Name of the ConfigMap with which an operator records a revision, without its number. */
const RECORD = 'revision-status-';

/** Set to `true` when everything of the revision has been copied (library-go, revision_controller.go). */
const READY = 'operator.openshift.io/revision-ready';

const recordSchema = z.object({
  metadata: z.looseObject({
    name: z.string().startsWith(RECORD),
    annotations: z.object({ [READY]: z.literal('true') }),
  }),
  data: z.looseObject({
    revision: z.coerce.number().int().positive(),
    reason: z.string().optional(),
  }),
});

/**
 * The revisions that an operator has recorded in its namespace, in order. An operator may prune old
 * ones later: they are kept by whoever has read them before.
 */
export function revisionsIn(component: string, configMaps: Iterable<KubeObject>): Revision[] {
  const found: Revision[] = [];
  for (const configMap of configMaps) {
    const { data: record } = recordSchema.safeParse(configMap);
    if (record === undefined) continue;
    const { revision, reason } = record.data;
    found.push({ component, revision, reason: reasonOf(revision, reason) });
  }
  return found.toSorted((a, b) => a.revision - b.revision);
}

/**
 * The first revision is made because those of its objects that would be revision 0 do not exist:
 * `configmaps "etcd-pod-0" not found`.
 */
function reasonOf(revision: number, reason = ''): string {
  if (revision === 1) return "the operator's first";
  return reason.trim() === '' ? 'no reason given' : reason.split(',').join(', ');
}

/** All revisions of both lists, each once, by component and number. */
export function withRevisions(
  known: readonly Revision[],
  found: readonly Revision[],
): { readonly all: readonly Revision[]; readonly fresh: readonly Revision[] } {
  const keyOf = ({ component, revision }: Revision) => `${component} ${revision}`;
  const before = new Set(known.map(keyOf));
  const fresh = found.filter((each) => !before.has(keyOf(each)));
  return { all: [...known, ...fresh], fresh };
}

/** `etcd 2, kube-apiserver 5`: how many revisions each component had. */
export function revisionCounts(revisions: readonly Revision[]): string {
  const counts = new Map<string, number>();
  for (const { component } of revisions) counts.set(component, (counts.get(component) ?? 0) + 1);
  const lines = [...counts].map(([component, count]) => `${component} ${count}`);
  return lines.toSorted().join(', ');
}
