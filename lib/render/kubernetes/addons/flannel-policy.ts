import type {
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
} from '@kubernetes/client-node';

const api = 'admissionregistration.k8s.io/v1';

/** Of flannel's annotations, by which it learns the addresses of other nodes. */
const PREFIX = 'flannel.alpha.coreos.com/';
const NODE_NAME = 'authentication.kubernetes.io/node-name';

const same = (one: string, other: string, field: string) => ({
  expression: `${one}.?${field} == ${other}.?${field}`,
  message: `flannel may not change the ${field} of a Node`,
});

/**
 * flannel announces the address of its node by annotations, and needs the right to patch the status of
 * Nodes for it. RBAC cannot limit that right to its own Node: with the token of a worker's pod, the
 * addresses of the control-plane node could be replaced. This policy can: the API server knows from
 * the token in which pod, and so on which node, it is used.
 */
export function ownNodeOnly(account: {
  readonly name: string;
  readonly namespace: string;
}): (V1ValidatingAdmissionPolicy | V1ValidatingAdmissionPolicyBinding)[] {
  const name = 'sno-flannel';
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  return [
    {
      apiVersion: api,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['UPDATE'],
              resources: ['nodes', 'nodes/*'],
            },
          ],
        },
        matchConditions: [
          { name: 'flannel', expression: `request.userInfo.username == '${user}'` },
        ],
        variables: [
          { name: 'now', expression: 'object.metadata.?annotations.orValue({})' },
          { name: 'before', expression: 'oldObject.metadata.?annotations.orValue({})' },
        ],
        validations: [
          {
            expression: `request.userInfo.?extra[?'${NODE_NAME}'].orValue([]) == [object.metadata.name]`,
            message: 'flannel may change only the Node that its pod runs on',
          },
          {
            expression: `variables.now.all(key, key.startsWith('${PREFIX}') || (key in variables.before && variables.before[key] == variables.now[key])) && variables.before.all(key, key.startsWith('${PREFIX}') || key in variables.now)`,
            message: `flannel may change only annotations that begin with ${PREFIX}`,
          },
          ...['labels', 'finalizers', 'ownerReferences'].map((field) =>
            same('object.metadata', 'oldObject.metadata', field),
          ),
          ...['spec', 'status'].map((field) => same('object', 'oldObject', field)),
        ],
      },
    },
    {
      apiVersion: api,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}
