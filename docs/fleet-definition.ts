import { z } from 'zod';
import { SPEC_LIMITS, siteSchema } from '../cli/fleet/site.ts';
import { writeGoYaml } from '../lib/base/go-yaml/write.ts';
import { FLEET } from '../lib/engine/report/site-status.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** What structural schemas of Kubernetes do not have, or have in another way. */
const LEFT_OUT = ['$schema', 'propertyNames', 'const'];
/** Lists whose entries are known by a key: server-side apply merges them, so that hub and node write beside each other. */
const KEYED: Readonly<Record<string, string>> = {
  '.status.conditions': 'type',
  '.status.report.changes': 'change',
};

/** A JSON Schema of zod as a structural schema of apiextensions.k8s.io/v1. */
function structural(schema: JsonSchema, path = ''): JsonSchema {
  const made: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (LEFT_OUT.includes(name)) continue;
    // Its expression has lookaheads, which Go does not; the format says the same.
    if (name === 'pattern' && schema.format === 'date-time') continue;
    made[name] = structuralValue(name, value, path);
  }
  if (schema.type === 'integer') made.format = 'int64';
  if (schema.maximum === Number.MAX_SAFE_INTEGER) made.maximum = undefined;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) made.minimum = undefined;
  const key = KEYED[path];
  if (key !== undefined) {
    Object.assign(made, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] });
  }
  return made;
}

const propertiesSchema = z.record(z.string(), z.record(z.string(), z.unknown()));
const nestedSchema = z.record(z.string(), z.unknown());

function structuralValue(name: string, value: unknown, path: string): unknown {
  if (name === 'items' || name === 'additionalProperties') {
    return structural(nestedSchema.parse(value), `${path}[]`);
  }
  if (name !== 'properties') return value;
  return Object.fromEntries(
    Object.entries(propertiesSchema.parse(value)).map(([field, each]) => [
      field,
      structural(each, `${path}.${field}`),
    ]),
  );
}

/** A Site is found by its name in a path, in a label and in the name of its certificate. */
const NAME = {
  rule: "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
  message: 'expected a name of lower-case letters, digits and "-"',
};

function siteDefinitionSchema(): JsonSchema {
  const { properties, required } = z
    .looseObject({
      properties: propertiesSchema,
      required: z.array(z.string()),
    })
    .parse(
      structural(
        z.record(z.string(), z.unknown()).parse(z.toJSONSchema(siteSchema, { io: 'input' })),
      ),
    );
  const { spec, status } = properties;
  const values = z.looseObject({ properties: propertiesSchema }).parse(spec).properties;
  const bounded = { ...values, values: { ...values.values, maxProperties: SPEC_LIMITS.values } };
  return {
    type: 'object',
    description: z.globalRegistry.get(siteSchema)?.description,
    required: required.filter((name) => name === 'spec'),
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: { ...spec, properties: bounded },
      status,
    },
    'x-kubernetes-validations': [NAME],
  };
}

const condition = (type: string, field: string) =>
  `.status.conditions[?(@.type=="${type}")].${field}`;

/** What `kubectl get sites` shows: with `-o wide` also the priority 1. */
const COLUMNS = [
  { name: 'Action', type: 'string', jsonPath: '.spec.action' },
  { name: 'Delivered', type: 'string', jsonPath: condition('Delivered', 'status') },
  {
    name: 'Step',
    type: 'string',
    jsonPath: '.status.report.changes[?(@.state=="running")].step',
  },
  { name: 'Completed', type: 'string', jsonPath: condition('Completed', 'status') },
  { name: 'Failed', type: 'string', jsonPath: condition('Failed', 'status') },
  { name: 'Reason', type: 'string', jsonPath: condition('Failed', 'reason') },
  { name: 'Serial', type: 'integer', priority: 1, jsonPath: '.status.volume.serial' },
  { name: 'Node', type: 'string', priority: 1, jsonPath: '.status.report.node' },
  { name: 'Message', type: 'string', priority: 1, jsonPath: condition('Failed', 'message') },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

/** deploy/fleet/crd.yaml: the CustomResourceDefinition of Sites. */
export function siteDefinition(): string {
  const { group, version, plural } = FLEET;
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Site', listKind: 'SiteList', plural, singular: 'site' },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: COLUMNS,
          schema: { openAPIV3Schema: siteDefinitionSchema() },
        },
      ],
    },
  };
  return `${GENERATED}${writeGoYaml(definition)}`;
}

export const GENERATED =
  '# Generated from the code by docs/generate.ts; do not edit. docs/fleet.md says what it is for.\n';
