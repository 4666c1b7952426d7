import { z } from 'zod';
import type { KubeObject } from '../../clients/kube/resources.ts';

const managedSchema = z.looseObject({
  managedFields: z
    .array(
      z.looseObject({
        manager: z.string().optional(),
        time: z.iso.datetime({ offset: true }).optional(),
        subresource: z.string().optional(),
      }),
    )
    .default([]),
});

/**
 * Who changed the object last, apart from its status: the newest of its managed fields
 * (Kubernetes, Server-Side Apply), such as `kubectl-edit at 2026-11-23T01:02:03Z`.
 */
export function changedBy({ metadata }: KubeObject): string | undefined {
  const { data } = managedSchema.safeParse(metadata);
  const [newest] = (data?.managedFields ?? [])
    .filter(({ subresource }) => subresource === undefined)
    .toSorted((a, b) => Date.parse(b.time ?? '') - Date.parse(a.time ?? ''));
  if (newest?.manager === undefined) return undefined;
  const when = newest.time === undefined ? '' : ` at ${newest.time}`;
  return `last changed by ${newest.manager}${when}`;
}

/** `namespace/name`, or the name alone. */
export const nameOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;
