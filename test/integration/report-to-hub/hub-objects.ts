/** What a hub has for its sites, as small as this test needs it: the kind Site, the right of all nodes, and the policy. */
import { z } from 'zod';
import {
  API_VERSION,
  FLEET,
  SITES_GROUP,
  siteStatusSchema,
} from '../../../lib/engine/report/site-status.ts';

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io/v1';

/** A schema of zod, as a definition takes it: lists of conditions are merged by their type. */
function structural(schema: unknown): unknown {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === '$schema' || key === 'pattern' ? undefined : value,
  );
  return JSON.parse(text);
}

const status = structural(z.toJSONSchema(siteStatusSchema, { io: 'input' }));
const conditions = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] };

function statusWithKeys(): unknown {
  const parsed = z
    .looseObject({ properties: z.looseObject({ conditions: z.looseObject({}) }) })
    .parse(status);
  const { properties } = parsed;
  return {
    ...parsed,
    properties: { ...properties, conditions: { ...properties.conditions, ...conditions } },
  };
}

export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${FLEET.plural}.${FLEET.group}` },
  spec: {
    group: FLEET.group,
    scope: 'Namespaced',
    names: { plural: FLEET.plural, singular: 'site', kind: 'Site', listKind: 'SiteList' },
    versions: [
      {
        name: FLEET.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              status: statusWithKeys(),
            },
          },
        },
      },
    ],
  },
};

const name = 'sno-sites';

export const rights = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    rules: [{ apiGroups: [FLEET.group], resources: [`${FLEET.plural}/status`], verbs: ['patch'] }],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: SITES_GROUP }],
  },
];

const SEQUENCE = 'has(oldObject.status) && has(oldObject.status.report)';

export const policy = [
  {
    apiVersion: ADMISSION,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [FLEET.group],
            apiVersions: ['*'],
            operations: ['UPDATE'],
            resources: [`${FLEET.plural}/status`],
          },
        ],
      },
      matchConditions: [
        { name: 'nodes', expression: `'${SITES_GROUP}' in request.userInfo.groups` },
      ],
      validations: [
        {
          expression:
            "request.userInfo.username == 'sno:site:' + request.namespace + ':' + request.name",
          message: 'not the node of this Site',
        },
        {
          expression: `!(${SEQUENCE}) || object.status.report.sequence > oldObject.status.report.sequence`,
          messageExpression: `'the report must be newer than ' + string(oldObject.status.report.sequence)`,
        },
      ],
    },
  },
  {
    apiVersion: ADMISSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  },
];

export const site = (siteName: string) => ({
  apiVersion: API_VERSION,
  kind: 'Site',
  metadata: { name: siteName, namespace: 'default' },
  spec: { action: 'relocate', serial: 1 },
});
