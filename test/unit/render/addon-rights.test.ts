import t from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { objectOf, objectsOf, podSpecSchema, withAddOns } from './addon-objects.ts';

const names = ['kube-proxy', 'coredns', 'local-path-provisioner', 'flannel'] as const;

/** Every right of an add-on that is a rule of its own. */
const RULES: Readonly<Record<string, readonly [rule: string, reason: string][]>> = {
  'coredns ClusterRole sno:coredns': [
    ['namespaces,services list,watch', 'the names that it serves'],
    ['discovery.k8s.io/endpointslices list,watch', 'the addresses of headless Services'],
  ],
  'local-path-provisioner Role local-path-provisioner': [
    ['pods get,create,delete', 'helper pods, in its own namespace only'],
    ['pods/log get', 'the output of a helper pod that failed'],
  ],
  'local-path-provisioner ClusterRole sno:local-path-provisioner': [
    ['nodes get', 'the node that a volume is for'],
    ['persistentvolumeclaims get,list,watch', 'claims without a volume'],
    [
      'persistentvolumes get,list,watch,create,patch,delete',
      'a volume for each claim, and its finalizer',
    ],
    ['events create,patch', 'why a claim gets no volume'],
    ['storage.k8s.io/storageclasses get,list,watch', 'which claims are its own'],
  ],
  'flannel ClusterRole sno:flannel': [
    ['nodes get,list,watch', 'the subnets and addresses of all nodes'],
    ['nodes/status patch', 'the address of its node; a policy limits it to that'],
  ],
};

const ruleSchema = z.strictObject({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
});

t.test('every rule has a reason', async (t) => {
  const found = Object.fromEntries(
    names.flatMap((addOn) =>
      objectsOf(withAddOns, addOn).flatMap(({ kind, metadata, rules }) => {
        if (rules === undefined) return [];
        const texts = z.array(ruleSchema).parse(rules).map(ruleText);
        return [[`${addOn} ${kind} ${metadata.name}`, texts]];
      }),
    ),
  );
  const expected = Object.entries(RULES).map(([key, rules]) => [key, rules.map(([rule]) => rule)]);
  t.same(found, Object.fromEntries(expected));
});

function ruleText({ apiGroups, resources, verbs }: z.infer<typeof ruleSchema>): string {
  const group = apiGroups.join() === '' ? '' : `${apiGroups.join()}/`;
  return `${group}${resources.join()} ${verbs.join()}`;
}

const bindingSchema = z.looseObject({
  kind: z.string(),
  roleRef: z.object({ kind: z.string(), name: z.string() }),
  subjects: z.array(z.strictObject({ kind: z.string(), name: z.string(), namespace: z.string() })),
});

t.test('each is bound to the ServiceAccount of its add-on only', async (t) => {
  const bindings = names.flatMap((addOn) =>
    objectsOf(withAddOns, addOn).flatMap((object) => {
      if (object.roleRef === undefined) return [];
      const { kind, roleRef, subjects } = bindingSchema.parse(object);
      const who = subjects.map((each) => `${each.kind} ${each.namespace}/${each.name}`);
      return [[kind, roleRef.kind, roleRef.name, ...who]];
    }),
  );
  const proxy = 'ServiceAccount kube-system/kube-proxy';
  const dns = 'ServiceAccount kube-system/coredns';
  const provisioner = 'ServiceAccount local-path-storage/local-path-provisioner';
  t.same(bindings, [
    // Kubernetes' own role: Services, endpoints and nodes to read, events to write.
    ['ClusterRoleBinding', 'ClusterRole', 'system:node-proxier', proxy],
    ['ClusterRoleBinding', 'ClusterRole', 'sno:coredns', dns],
    ['RoleBinding', 'Role', 'local-path-provisioner', provisioner],
    ['ClusterRoleBinding', 'ClusterRole', 'sno:local-path-provisioner', provisioner],
    ['ClusterRoleBinding', 'ClusterRole', 'sno:flannel', 'ServiceAccount kube-system/flannel'],
  ]);
});

interface Privileges {
  user: number;
  capabilities: readonly (readonly [name: string, reason: string])[];
  hostNetwork: boolean;
  volumes: readonly string[];
}

const PODS: Readonly<Record<string, Privileges>> = {
  'kube-proxy': {
    user: 0,
    capabilities: [['NET_ADMIN', "nft changes the host's rules"]],
    hostNetwork: true,
    volumes: ['configMap kube-proxy'],
  },
  coredns: {
    user: 65532,
    capabilities: [
      ['NET_BIND_SERVICE', 'exec fails without the file capability of the usual image'],
    ],
    hostNetwork: false,
    volumes: ['configMap coredns'],
  },
  'local-path-provisioner': {
    user: 65532,
    capabilities: [],
    hostNetwork: false,
    volumes: ['configMap local-path-config'],
  },
  flannel: {
    user: 0,
    capabilities: [['NET_ADMIN', "it changes the host's routes"]],
    hostNetwork: true,
    volumes: ['configMap flannel', 'emptyDir'],
  },
  'helper pod': {
    user: 0,
    capabilities: [
      ['DAC_OVERRIDE', 'a volume has folders of any user'],
      ['FOWNER', 'and sticky ones'],
    ],
    hostNetwork: false,
    // The provisioner adds the folder of all volumes and the scripts.
    volumes: [],
  },
};

const onEveryNode: readonly string[] = ['kube-proxy', 'flannel'];

const volumeSchema = z.union([
  z
    .strictObject({ name: z.string(), configMap: z.strictObject({ name: z.string() }) })
    .transform(({ configMap }) => `configMap ${configMap.name}`),
  z
    .strictObject({ name: z.string(), emptyDir: z.looseObject({ medium: z.literal('Memory') }) })
    .transform(() => 'emptyDir'),
]);

const templateSchema = z.looseObject({
  template: z.looseObject({
    metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
    spec: podSpecSchema,
  }),
});

function specOf(name: string) {
  if (name === 'helper pod') {
    const { data } = objectOf('local-path-provisioner', 'ConfigMap');
    return podSpecSchema.parse(parse(data?.['helperPod.yaml'] ?? '').spec);
  }
  const kind = onEveryNode.includes(name) ? 'DaemonSet' : 'Deployment';
  return templateSchema.parse(objectOf(name, kind).spec).template.spec;
}

for (const [name, { user, capabilities, hostNetwork, volumes }] of Object.entries(PODS)) {
  t.test(`${name}: no more privilege than needed`, async (t) => {
    const spec = specOf(name);
    const [{ securityContext, image, imagePullPolicy, resources }] = spec.containers;
    const add = capabilities.map(([capability]) => capability);
    const { seLinuxOptions, ...rights } = securityContext;
    t.same(rights, {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], ...(add.length === 0 ? {} : { add }) },
      privileged: false,
      readOnlyRootFilesystem: true,
    });
    t.same(
      seLinuxOptions,
      // The host's label of the parent folder is not writable for containers.
      name === 'helper pod' ? { type: 'spc_t' } : undefined,
    );
    t.same(spec.securityContext, {
      ...(user === 0 ? {} : { runAsNonRoot: true }),
      runAsUser: user,
      runAsGroup: user,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    t.equal(spec.hostNetwork ?? false, hostNetwork);
    t.same([spec.hostPID, spec.hostIPC], [undefined, undefined]);
    t.same(z.array(volumeSchema).parse(spec.volumes ?? []), volumes);
    t.match(image, /^example\.test\//, 'of the payload');
    t.equal(imagePullPolicy, 'IfNotPresent', 'the site may have no registry');
    t.ok(resources.requests.cpu && resources.requests.memory, 'so the scheduler counts it');
  });
}

t.test('which pod goes first when the host is full', async (t) => {
  t.same(
    Object.keys(PODS).map((name) => [name, specOf(name).priorityClassName]),
    [
      ['kube-proxy', 'system-node-critical'],
      ['coredns', 'system-cluster-critical'],
      ['local-path-provisioner', 'system-cluster-critical'],
      ['flannel', 'system-node-critical'],
      ['helper pod', 'system-node-critical'],
    ],
  );
});

t.test('the agents find the pods of each add-on', async (t) => {
  for (const name of names) {
    const kind = onEveryNode.includes(name) ? 'DaemonSet' : 'Deployment';
    const { template } = templateSchema.parse(objectOf(name, kind).spec);
    t.equal(template.metadata.labels['sno-agents/add-on'], name);
  }
});
