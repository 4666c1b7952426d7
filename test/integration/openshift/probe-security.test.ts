/**
 * The pod by which `reconfigure validate` asks a cluster, and OpenShift's own admission: SecurityContextConstraints restricted-v2 give
 * it a user of its namespace. Needs components that `npm run lab -- --scenario openshift-components` builds.
 *
 * What runs everywhere: the objects of the probe, test/unit/agents/relocatable; not their admission.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { restrictedPod } from '../../../agents/reconfigure/validate/openshift.ts';
import { probeObjects } from '../../../agents/reconfigure/validate/probe-objects.ts';
import { openshiftApi, PAYLOAD_CRDS } from '../../../lab/components/openshift/api.ts';
import { openshiftKubernetes } from '../../../lab/components/openshift/kubernetes.ts';
import { objectSchema, type Resource, resources } from '../../../lib/clients/kube/resources.ts';
import { asNobody } from '../../../lib/render/kubernetes/addons/objects.ts';
import { cachedFolder } from './cached.ts';
import { startForkApiServer } from './fork-api-server.ts';

const LIFETIME_MS = 240_000;
const folders = await Promise.all([openshiftKubernetes, openshiftApi].map(cachedFolder));
const skip = folders.includes(undefined) && 'not built: openshift-kubernetes, openshift-api';

const CONSTRAINTS = '0000_03_config-operator_01_securitycontextconstraints.crd.yaml';
const ADMISSION = 'security.openshift.io/SecurityContextConstraint';

/** Those that have informers of kinds that nobody serves here, and those of a CPU partitioning. */
const OTHERS = [
  'quota.openshift.io/ClusterResourceQuota',
  'authorization.openshift.io/RestrictSubjectBindings',
  'autoscaling.openshift.io/ManagementCPUsOverride',
  'autoscaling.openshift.io/ManagedNode',
  'image.openshift.io/ImagePolicy',
];

/**
 * OpenShift's admission exists only with a configuration of its operator, whose address must be that of the server: a program in the
 * place of the server that writes one.
 */
async function withAdmission(folder: string, program: string): Promise<string> {
  const config = (port: string, accountsKey: string) =>
    stringify({
      apiVersion: 'kubecontrolplane.config.openshift.io/v1',
      kind: 'KubeAPIServerConfig',
      admission: { pluginConfig: {} },
      // Lists add to those of the command line.
      apiServerArguments: {
        'authorization-mode': ['SystemMasters'],
        'enable-admission-plugins': [ADMISSION],
        'disable-admission-plugins': OTHERS,
      },
      serviceAccountPublicKeyFiles: [accountsKey],
      servicesSubnet: '10.96.0.0/16',
      servingInfo: { bindAddress: `127.0.0.1:${port}` },
    });
  const script = `#!/bin/sh
for each; do case "$each" in
--secure-port=*) port=\${each#*=} ;;
--service-account-key-file=*) key=\${each#*=} ;;
esac; done
cat > '${folder}/config.yaml' <<EOF
${config('$port', '$key')}EOF
exec '${program}' "$@" --openshift-config='${folder}/config.yaml'
`;
  await writeFile(join(folder, 'kube-apiserver'), script, { mode: 0o755 });
  return folder;
}

/** restricted-v2, as the operator of the API server has it (4.21). */
const restrictedV2 = {
  apiVersion: 'security.openshift.io/v1',
  kind: 'SecurityContextConstraints',
  metadata: { name: 'restricted-v2' },
  allowHostDirVolumePlugin: false,
  allowHostIPC: false,
  allowHostNetwork: false,
  allowHostPID: false,
  allowHostPorts: false,
  allowPrivilegeEscalation: false,
  allowPrivilegedContainer: false,
  allowedCapabilities: ['NET_BIND_SERVICE'],
  defaultAddCapabilities: null,
  fsGroup: { type: 'MustRunAs' },
  groups: ['system:authenticated'],
  priority: null,
  readOnlyRootFilesystem: false,
  requiredDropCapabilities: ['ALL'],
  runAsUser: { type: 'MustRunAsRange' },
  seLinuxContext: { type: 'MustRunAs' },
  seccompProfiles: ['runtime/default'],
  supplementalGroups: { type: 'RunAsAny' },
  users: [],
  volumes: [
    ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image'],
    ...['persistentVolumeClaim', 'projected', 'secret'],
  ],
};

/** Admission waits for all of them. Nobody may use these: what they allow does not matter. */
const OTHER_CONSTRAINTS = [
  ...['anyuid', 'hostaccess', 'hostmount-anyuid', 'hostnetwork', 'hostnetwork-v2'],
  ...['nonroot', 'nonroot-v2', 'privileged', 'restricted'],
].map((name) => ({ ...restrictedV2, metadata: { name }, groups: [] }));

/** What the cluster policy controller writes to each namespace. */
const RANGES = {
  'openshift.io/sa.scc.uid-range': '1000650000/10000',
  'openshift.io/sa.scc.supplemental-groups': '1000650000/10000',
  'openshift.io/sa.scc.mcs': 's0:c26,c5',
};

const podSchema = objectSchema.extend({
  spec: z.looseObject({
    securityContext: z.looseObject({ fsGroup: z.number().optional() }),
    containers: z.array(
      z.looseObject({ securityContext: z.looseObject({ runAsUser: z.number().optional() }) }),
    ),
  }),
});
const pods: Resource<z.infer<typeof podSchema>> = { ...resources.pods, schema: podSchema };
const accounts = { ...resources.configMaps, plural: 'serviceaccounts' };

t.test('the pod of the probe', { skip, timeout: LIFETIME_MS }, async (t) => {
  const [kubernetes = '', api = ''] = folders;
  const folder = await mkdtemp(join(tmpdir(), 'sno-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const programs = await withAdmission(folder, join(kubernetes, 'kube-apiserver'));
  const { admin, limits, apply, controlPlane } = await startForkApiServer(t, programs, LIFETIME_MS);
  await apply('definition', await readFile(join(api, PAYLOAD_CRDS, CONSTRAINTS), 'utf8'));
  const constraints = [restrictedV2, ...OTHER_CONSTRAINTS];
  await apply('constraints', constraints.map((each) => stringify(each)).join('---\n'));

  const options = { image: 'registry.test/etcd:1', securityContext: restrictedPod, token: 'x' };
  const objects = probeObjects({ ...options, hasVolumes: false });
  await apply('probe', objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  const place = { namespace: 'sno-validate' };
  const namespace = { apiVersion: 'v1', plural: 'namespaces', schema: objectSchema };
  const made = await admin.get(namespace, { name: 'sno-validate' }, limits);
  const annotations = { ...made.metadata.annotations, ...RANGES };
  const annotated = { ...made, metadata: { ...made.metadata, annotations } };
  await admin.replace(namespace, { name: 'sno-validate' }, annotated, limits);
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  await admin.create(accounts, place, account, limits);

  const { template } = parse(stringify(objects.at(-1))).spec;
  const podOf = (name: string, securityContext: object = template.spec.securityContext) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { ...template.spec, automountServiceAccountToken: false, securityContext },
  });
  // Who makes pods has no rights on the constraints: only those of the pod's own account count.
  using maker = await controlPlane.client({ name: 'maker', groups: ['system:authenticated'] });
  await apply('rights', RIGHTS);
  const until = performance.now() + 60_000;
  for (;;) {
    // The constraints are read by a watch.
    try {
      await maker.create(pods, place, podOf('probe'), limits);
      break;
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(200);
    }
  }
  const admitted = await admin.get(pods, { ...place, name: 'probe' }, limits);
  t.equal(admitted.metadata.annotations?.['openshift.io/scc'], 'restricted-v2');
  t.equal(admitted.spec.containers[0]?.securityContext.runAsUser, 1000650000);
  t.equal(admitted.spec.securityContext.fsGroup, 1000650000, 'for the volume');

  const ofPayload = { ...asNobody, fsGroup: asNobody.runAsGroup };
  await t.rejects(
    maker.create(pods, place, podOf('of-payload', ofPayload), limits),
    { message: /unable to validate against any security context constraint/ },
    'that of the Kubernetes payload is refused',
  );
});

const RIGHTS = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {namespace: sno-validate, name: maker}
rules: [{apiGroups: [''], resources: [pods], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: sno-validate, name: maker}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: maker}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: maker}]
`;
