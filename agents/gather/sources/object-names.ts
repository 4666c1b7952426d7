import { z } from 'zod';
import type { Source } from '../source.ts';
import type { Api } from './api.ts';
import { made } from './made.ts';
import { objectsIn, pages } from './object-list.ts';

const named = z.looseObject({ name: z.string() });
const nodeSchema = z.looseObject({
  metadata: named.extend({ labels: z.record(z.string(), z.string()).default({}) }),
});
const podSchema = z.looseObject({
  metadata: named.extend({
    namespace: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.looseObject({
    containers: z.array(named),
    initContainers: z.array(named).default([]),
  }),
});

type Node = z.infer<typeof nodeSchema>;
type Pod = z.infer<typeof podSchema>;

const CONTROL_PLANE = ['node-role.kubernetes.io/master', 'node-role.kubernetes.io/control-plane'];

/** Names only, one per line, as arguments of `oc`: what scripts that read bundles expect. */
export function objectNames(api: Api): Source[] {
  const list = <T>(
    name: string,
    plural: string,
    schema: z.ZodType<T>,
    lines: (object: T) => readonly string[],
  ) =>
    made(`resources/${name}`, async (_, signal) => {
      const lists = pages(api, { path: `/api/v1/${plural}` }, signal);
      const found = await Array.fromAsync(objectsIn(lists, schema), lines);
      return found
        .flat()
        .map((line) => `${line}\n`)
        .join('');
    });
  return [
    list('nodes.list', 'nodes', nodeSchema, ({ metadata }) => [metadata.name]),
    list('masters.list', 'nodes', nodeSchema, (node) =>
      isControlPlane(node) ? [node.metadata.name] : [],
    ),
    list('containers', 'pods', podSchema, containerLines),
    list('api-pods', 'pods', podSchema, ({ metadata }) =>
      metadata.labels.apiserver === 'true' ? [`-n ${metadata.namespace} ${metadata.name}`] : [],
    ),
  ];
}

const isControlPlane = ({ metadata }: Node) =>
  CONTROL_PLANE.some((label) => metadata.labels[label] !== undefined);

const containerLines = ({ metadata, spec }: Pod) =>
  [...spec.containers, ...spec.initContainers].map(
    ({ name }) => `-n ${metadata.namespace} ${metadata.name} -c ${name}`,
  );
