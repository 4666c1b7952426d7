import { z } from 'zod';
import type { Difference } from './differences.ts';
import { installerChoices } from './installer.ts';
import { controlPlaneNode, ingressPlacement } from './kubernetes.ts';
import { topologyManifests } from './openshift.ts';
import type { Release } from './release.ts';
import { rowFor, type TopologyInputs } from './row-for.ts';
import { PLATFORM_KINDS, ROWS, rowSchema, type TopologyRow } from './rows.ts';

/** What `sno explain topology --json` prints. */
export const topologyReportSchema = z.object({
  schemaVersion: z.literal(1),
  rows: z.array(rowSchema.extend({ applies: z.boolean() })),
  inputs: z
    .object({
      controlPlane: z.literal(1),
      compute: z.int(),
      laterWorkers: z.int(),
      platform: z.enum(PLATFORM_KINDS),
    })
    .optional()
    .describe('if a cluster was described: the row that applies is marked'),
  kubernetes: z
    .object({
      node: z.object({
        labels: z.record(z.string(), z.string()),
        taints: z.array(z.object({ key: z.string(), effect: z.string() })),
      }),
      ingress: z.object({
        replicas: z.int(),
        nodeSelector: z.record(z.string(), z.string()),
        tolerations: z.array(
          z.object({ key: z.string(), operator: z.string(), effect: z.string() }),
        ),
      }),
    })
    .optional()
    .describe('what follows from that row on Kubernetes'),
  openshift: z
    .object({
      release: z.string(),
      manifests: z.array(
        z.object({
          file: z.string(),
          isPartial: z
            .boolean()
            .describe('whether the object has only the fields that the topology determines'),
          says: z.string(),
          why: z.string(),
          object: z.looseObject({ apiVersion: z.string(), kind: z.string() }),
        }),
      ),
      installer: z
        .array(
          z.object({
            field: z.string(),
            expected: z.union([z.string(), z.boolean()]),
            installer: z.union([z.string(), z.boolean()]),
          }),
        )
        .describe('what openshift-install decides otherwise'),
      byHand: z
        .array(z.object({ operator: z.string(), why: z.string(), remedy: z.string() }))
        .describe('empty: the releases that are known need nothing by hand'),
    })
    .optional()
    .describe('what follows from that row on OpenShift'),
  differences: z
    .array(
      z.object({
        file: z.string(),
        object: z.string(),
        field: z.string().optional().describe('absent if there is no such object'),
        expected: z.unknown().optional(),
        found: z.unknown().optional(),
      }),
    )
    .optional()
    .describe('with --from-ignition: what its manifests lack or have otherwise'),
});
export type TopologyReport = z.infer<typeof topologyReportSchema>;

/** The cluster that is explained, if one was described. */
export type Described = TopologyInputs &
  ({ readonly kind: 'kubernetes' } | { readonly kind: 'openshift'; readonly release: Release });

/** The table, with the row of the cluster marked and what follows from it. */
export function topologyReport(
  described: Described | undefined,
  differences?: readonly Difference[],
): TopologyReport {
  const applying = described === undefined ? undefined : rowFor(described);
  const rows = ROWS.map((row) => ({ ...row, applies: row === applying }));
  if (described === undefined || applying === undefined) return { schemaVersion: 1, rows };
  const { compute, laterWorkers, platform } = described;
  return {
    schemaVersion: 1,
    rows,
    inputs: { controlPlane: 1, compute, laterWorkers, platform },
    ...(described.kind === 'kubernetes'
      ? { kubernetes: { node: controlPlaneNode(applying), ingress: ingressPlacement(applying) } }
      : { openshift: openshiftPart(applying, described.release) }),
    ...(differences === undefined ? {} : { differences: differences.map(differencePart) }),
  };
}

function openshiftPart(row: TopologyRow, release: Release) {
  const [manifests, installer] = [topologyManifests(row), installerChoices(row)];
  return { release, manifests, installer, byHand: [] };
}

function differencePart({ expected: { file, object }, field }: Difference) {
  const { name, namespace } = object.metadata;
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  return {
    file,
    object: `${object.kind} ${place}`,
    ...(field === undefined
      ? {}
      : { field: field.path, expected: field.expected, found: field.found }),
  };
}
