import { writeGoDocuments } from '../lib/base/go-yaml/write.ts';
import {
  FIELD_MANAGERS,
  FLEET,
  NODE_CONDITIONS,
  SITES_GROUP,
  STATUS_LIMITS,
  siteUser,
} from '../lib/engine/report/site-status.ts';
import { GENERATED } from './fleet-definition.ts';

const NAME = 'sno-fleet-node';
const labels = { 'app.kubernetes.io/part-of': 'sno-fleet' };

const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: NAME, labels },
  rules: [{ apiGroups: [FLEET.group], resources: [`${FLEET.plural}/status`], verbs: ['patch'] }],
};

const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: NAME, labels },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: SITES_GROUP }],
};

/** The user name of the object's node, as an expression: that of siteUser(). */
const OWN_USER = siteUser("' + object.metadata.namespace + '", "' + object.metadata.name");
const OWN = `'${OWN_USER}`;
const LIST = JSON.stringify(NODE_CONDITIONS).replaceAll('"', "'");
const KEPT_METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

const validations = [
  {
    expression: "request.operation == 'UPDATE' && request.subResource == 'status'",
    message: 'a node of a site writes nothing but the status of its Site',
  },
  {
    // Each manager is an entry in the object for good.
    expression: `request.options.fieldManager == '${FIELD_MANAGERS.node}'`,
    message: 'a node writes by server-side apply, as its own field manager',
  },
  {
    expression: `request.userInfo.username == ${OWN}`,
    messageExpression: `'this certificate is not that of Site ' + object.metadata.name + ': expected ' + ${OWN}`,
    message: 'this certificate is that of another Site',
  },
  {
    expression: "'report' in variables.after",
    message: 'expected status.report with a sequence',
  },
  {
    expression:
      '!has(variables.after.report.site) || variables.after.report.site == object.metadata.uid',
    message: 'this report is for another Site that had this name',
  },
  {
    expression: '!variables.hasReport || variables.after.report.sequence > variables.last',
    messageExpression:
      "'this report is old: expected status.report.sequence to be newer than ' + string(variables.last)",
    message: 'this report is old',
  },
  {
    expression:
      "variables.before.all(k, k in ['conditions', 'report'] || (k in variables.after && variables.after[k] == variables.before[k])) && variables.after.all(k, k in ['conditions', 'report'] || k in variables.before)",
    message: 'a node writes status.report and its own conditions, nothing else of the status',
  },
  {
    expression:
      'variables.hubBefore.size() == variables.hubAfter.size() && variables.hubBefore.all(c, c in variables.hubAfter)',
    message: `a node writes the conditions ${NODE_CONDITIONS.join(', ')}, and no other`,
  },
  {
    expression: `variables.texts <= ${STATUS_LIMITS.texts}`,
    message: `expected at most ${STATUS_LIMITS.texts} characters in what, fix and message together`,
  },
  {
    expression: `object.spec == oldObject.spec && ${KEPT_METADATA.map((name) => `object.metadata.?${name} == oldObject.metadata.?${name}`).join(' && ')}`,
    message: 'a node changes neither metadata nor spec of its Site',
  },
];

const policy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: NAME, labels },
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: [FLEET.group],
          apiVersions: ['*'],
          operations: ['*'],
          resources: [FLEET.plural, `${FLEET.plural}/*`],
        },
      ],
    },
    matchConditions: [
      { name: 'of-a-site', expression: `'${SITES_GROUP}' in request.userInfo.groups` },
    ],
    variables: [
      { name: 'before', expression: 'oldObject.?status.orValue({})' },
      { name: 'after', expression: 'object.?status.orValue({})' },
      { name: 'hasReport', expression: "'report' in variables.before" },
      { name: 'last', expression: 'variables.hasReport ? variables.before.report.sequence : 0' },
      {
        name: 'texts',
        expression:
          "variables.after.?report.changes.orValue([]).map(c, size(c.?what.orValue('')) + size(c.?fix.orValue(''))).sum() + variables.after.?conditions.orValue([]).map(c, size(c.message)).sum()",
      },
      ...['before', 'after'].map((when) => ({
        name: when === 'before' ? 'hubBefore' : 'hubAfter',
        expression: `variables.${when}.?conditions.orValue([]).filter(c, !(c.type in ${LIST}))`,
      })),
    ],
    validations: validations.map((each) => ({ ...each, reason: 'Invalid' })),
  },
};

const policyBinding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: NAME, labels },
  spec: { policyName: NAME, validationActions: ['Deny'] },
};

/** deploy/fleet/node-access.yaml: what the certificates of nodes may do on the hub. */
export const nodeAccess = (): string =>
  `${GENERATED}${writeGoDocuments([role, binding, policy, policyBinding])}`;
