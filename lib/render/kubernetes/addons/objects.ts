import type {
  V1PodSpec,
  V1PolicyRule,
  V1Probe,
  V1SecurityContext,
  V1ServiceAccount,
} from '@kubernetes/client-node';
import { rbacBinding, rbacRole } from '../../../clients/rights/rbac.ts';
import { ROLES, roleToleration } from '../../../config/topology/roles.ts';
import { type AddOn, addOnLabel } from '../../../payload/add-ons.ts';
import { localApi } from '../paths.ts';

/** The namespace that is exempt from the pod security defaults. */
export const systemNamespace = 'kube-system';

/** Add-ons run on control plane nodes too: there may be no other node. */
export const onControlPlane = [roleToleration(ROLES.controlPlane), roleToleration(ROLES.master)];

export type Capability = 'NET_ADMIN' | 'NET_BIND_SERVICE' | 'DAC_OVERRIDE' | 'FOWNER';

/** No privilege but the capabilities named. */
export function restricted(...add: Capability[]): V1SecurityContext {
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'], ...(add.length === 0 ? {} : { add }) },
    privileged: false,
    readOnlyRootFilesystem: true,
  };
}

const seccompProfile = { type: 'RuntimeDefault' };

/** A pod whose programs run as root, limited by their capabilities. */
export const asRoot = { runAsUser: 0, runAsGroup: 0, seccompProfile };

/** A user without any rights; images call it "nonroot". */
export const asNobody = {
  runAsNonRoot: true,
  runAsUser: 65532,
  runAsGroup: 65532,
  seccompProfile,
};

/** An image of the payload. It is not pulled: the site may have no registry. */
export function payloadImage(image: string) {
  return {
    image,
    imagePullPolicy: 'IfNotPresent',
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/** The label by which the agents find the pods of an add-on. */
export const addOnPod = (name: AddOn) => ({ [addOnLabel]: name });

interface Account {
  name: string;
  namespace: string;
}

export function serviceAccount({ name, namespace }: Account): V1ServiceAccount {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
}

export const clusterRole = (name: string, rules: V1PolicyRule[]) => rbacRole({ name }, rules);

const subjectOf = (account: Account) => ({ kind: 'ServiceAccount', ...account });

export const clusterRoleBinding = (name: string, role: string, account: Account) =>
  rbacBinding({ name }, subjectOf(account), role);

/** A Role of the account's namespace and its binding, both under the account's name. */
export const namespacedRole = (account: Account, rules: V1PolicyRule[]) => [
  rbacRole(account, rules),
  rbacBinding(account, subjectOf(account)),
];

/** Of a pod that works on the host's network, and that every node needs. */
export const onHostNetwork = ({ name }: Account): Omit<V1PodSpec, 'containers'> => ({
  hostNetwork: true,
  dnsPolicy: 'Default',
  enableServiceLinks: false,
  serviceAccountName: name,
  priorityClassName: 'system-node-critical',
  // A node that is not Ready needs it too.
  tolerations: [{ operator: 'Exists' }],
  securityContext: asRoot,
});

/** Of such a pod, which is reached on loopback. */
export const hostLiveness = (path: string, port: number): V1Probe => ({
  httpGet: { host: '127.0.0.1', path, port },
  initialDelaySeconds: 10,
  periodSeconds: 10,
  timeoutSeconds: 15,
  failureThreshold: 8,
});

const identity = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * For pods on the host's network that Services depend on: they reach the API server at the host's own
 * address, since addresses of Services and DNS work only once they run.
 */
export function hostKubeconfig({ name }: Account) {
  const cluster = { server: localApi, 'certificate-authority': `${identity}/ca.crt` };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'host', cluster }],
    users: [{ name, user: { tokenFile: `${identity}/token` } }],
    contexts: [{ name: 'host', context: { cluster: 'host', user: name } }],
    'current-context': 'host',
  };
}
