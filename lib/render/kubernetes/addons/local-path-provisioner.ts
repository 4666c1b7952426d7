import type {
  KubernetesObject,
  V1ConfigMap,
  V1Deployment,
  V1Pod,
  V1StorageClass,
} from '@kubernetes/client-node';
import { writeGoYaml } from '../../../base/go-yaml/write.ts';
import {
  addOnPod,
  asNobody,
  asRoot,
  clusterRole,
  clusterRoleBinding,
  namespacedRole,
  onControlPlane,
  payloadImage,
  restricted,
  serviceAccount,
} from './objects.ts';

/**
 * A namespace of its own: whoever may create pods in kube-system can use every Secret and
 * ServiceAccount in it.
 */
const account = { name: 'local-path-provisioner', namespace: 'local-path-storage' };
const role = 'sno:local-path-provisioner';
const configFolder = '/etc/config';

/** The folder of all volumes. */
export const volumesFolder = '/var/lib/local-path-provisioner';

/** The default StorageClass: each claim gets a folder of the host. */
export function localPathProvisioner(image: string): (KubernetesObject | V1ConfigMap)[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: account.namespace,
        // Its helper pods mount the folder of all volumes.
        labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
      },
    },
    serviceAccount(account),
    ...namespacedRole(account, [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'create', 'delete'] },
      { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    ]),
    clusterRole(role, [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
      {
        apiGroups: [''],
        resources: ['persistentvolumeclaims'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: [''],
        resources: ['persistentvolumes'],
        verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      {
        apiGroups: ['storage.k8s.io'],
        resources: ['storageclasses'],
        verbs: ['get', 'list', 'watch'],
      },
    ]),
    clusterRoleBinding(role, role, account),
    storageClass,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      // The provisioner expects the scripts of its helper pods under this name.
      metadata: { name: 'local-path-config', namespace: account.namespace },
      data: {
        'config.json': JSON.stringify({
          nodePathMap: [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [volumesFolder] }],
        }),
        'helperPod.yaml': writeGoYaml(helperPod(image)),
        setup: script('mkdir -m 0777 -p "$VOL_DIR"'),
        teardown: script('rm -rf "$VOL_DIR"'),
      },
    },
    deployment(image),
  ];
}

const script = (line: string) => `#!/bin/sh\nset -eu\n${line}\n`;

const storageClass: V1StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name: 'local-path',
    annotations: {
      'storageclass.kubernetes.io/is-default-class': 'true',
      // Not "hostPath": the kubelet gives such a volume no SELinux label and no group.
      defaultVolumeType: 'local',
    },
  },
  provisioner: 'rancher.io/local-path',
  // The volume is created on the node that the scheduler chooses for the pod.
  volumeBindingMode: 'WaitForFirstConsumer',
  reclaimPolicy: 'Delete',
};

/** Creates or deletes the folder of one volume; the provisioner adds volume, command and node. */
function helperPod(image: string): V1Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'helper-pod' },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // Deleting a volume must work on a full disk too.
      priorityClassName: 'system-node-critical',
      securityContext: asRoot,
      containers: [
        {
          name: 'helper-pod',
          // Has the shell and the two programs that the scripts need.
          ...payloadImage(image),
          resources: { requests: { cpu: '10m', memory: '16Mi' } },
          securityContext: {
            // Files in a volume belong to any user.
            ...restricted('DAC_OVERRIDE', 'FOWNER'),
            // The parent folder has the host's label, which containers may not write to.
            seLinuxOptions: { type: 'spc_t' },
          },
        },
      ],
    },
  };
}

function deployment(image: string): V1Deployment {
  const labels = { app: account.name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...account, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      // Never two at once: without leader election, both would act.
      strategy: { type: 'Recreate' },
      template: {
        metadata: { labels: { ...labels, ...addOnPod('local-path-provisioner') } },
        spec: {
          enableServiceLinks: false,
          serviceAccountName: account.name,
          priorityClassName: 'system-cluster-critical',
          tolerations: onControlPlane,
          securityContext: asNobody,
          containers: [
            {
              name: account.name,
              ...payloadImage(image),
              command: [
                ...['local-path-provisioner', 'start'],
                ...['--config', `${configFolder}/config.json`],
                ...['--helper-pod-file', `${configFolder}/helperPod.yaml`],
                ...['--service-account-name', account.name],
              ],
              env: [
                {
                  name: 'POD_NAMESPACE',
                  valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } },
                },
              ],
              resources: { requests: { cpu: '20m', memory: '32Mi' }, limits: { memory: '256Mi' } },
              securityContext: restricted(),
              volumeMounts: [{ name: 'config', mountPath: configFolder, readOnly: true }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name: 'local-path-config' } }],
        },
      },
    },
  };
}
