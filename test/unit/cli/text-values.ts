const object = (kind: string, fields: string, metadata = '') =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: {name: a, namespace: default${metadata}}\n${fields}`;

const named = (kind: string, name: string) =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}${kind === 'Namespace' ? '' : ', namespace: default'}}\n`;

const CONTAINER = 'containers: [{name: a, image: b}, {name: c, image: d, ';
const pod = (fields: string, metadata = '') =>
  `{metadata: {labels: {a: b}${metadata}}, spec: {${fields}}}`;
const job = (template: string) =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: default}\nspec: {template: ${template}}`;
const deployment = (template: string) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: default}\nspec: {selector: {matchLabels: {a: b}}, template: ${template}}`;
const cronJob = (template: string) =>
  `apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a, namespace: default}\nspec: {schedule: "0 0 * * *", jobTemplate: {spec: {template: ${template}}}}`;

/** Manifests with a value that is no text, or no base64, where the API demands it; and how that is said. */
export const OTHER_THAN_TEXT: readonly (readonly [text: string, says: RegExp])[] = [
  [
    object('Service', 'spec: {ports: [{port: 80}], selector: {version: 8080}}'),
    /^spec\.selector\.v/,
  ],
  [
    deployment(pod(`${CONTAINER}command: sleep 1}]`)),
    /^spec\.template\.spec\.containers\[1\]\.command: expected a list, found another value/,
  ],
  [
    'apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: a, labels: {}}\nprovisioner: x\nparameters: {replicas: 2}',
    /^parameters\.replicas: .*a number/,
  ],
  [
    'apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: a, namespace: default}\nspec: {podSelector: {matchLabels: {app: 1}}}',
    /^spec\.podSelector\.matchLabels\.app: .*a number/,
  ],
  [object('ConfigMap', 'data: {port: 8080}'), /^data\.port: .*a number\. Put it in quotes\.$/],
  [object('ConfigMap', 'data: {id: 12345678901234567890}'), /^data\.id: .*a number/],
  [object('ConfigMap', 'data: {debug: yes}'), /^data\.debug: .*true or false/],
  [object('ConfigMap', 'data: {a.yaml: {b: 1}}'), /^data\.a\.yaml: .*a mapping or a list/],
  [object('ConfigMap', 'binaryData: {a: "not base64"}'), /^binaryData\.a: expected base64/],
  [object('Secret', 'stringData: {pin: 0042}'), /^stringData\.pin: .*a number/],
  [object('Secret', 'data: {password: hunter2}'), /^data\.password: expected base64/],
  [object('Secret', 'data: {pin: 1234}'), /^data\.pin: expected a text, found a number/],
  [object('ServiceAccount', '', ', labels: {tier: on}'), /^metadata\.labels\.tier: /],
  [object('ServiceAccount', '', ', annotations: {a: 1}'), /^metadata\.annotations\.a: /],
  [
    object('Pod', `spec: {${CONTAINER}env: [{name: A}, {name: B, value: 8080}]}]}`),
    /^spec\.containers\[1\]\.env\[1\]\.value: .*a number/,
  ],
  [
    deployment(pod(`${CONTAINER}args: [--port, 8080]}]`)),
    /^spec\.template\.spec\.containers\[1\]\.args\[1\]: .*a number/,
  ],
  [
    job(
      pod(
        `restartPolicy: Never, initContainers: [{name: i, image: b, command: [yes]}], ${CONTAINER}}]`,
      ),
    ),
    /^spec\.template\.spec\.initContainers\[0\]\.command\[0\]: .*true or false/,
  ],
  [
    cronJob(pod(`restartPolicy: Never, nodeSelector: {gpu: true}, ${CONTAINER}}]`)),
    /^spec\.jobTemplate\.spec\.template\.spec\.nodeSelector\.gpu: .*true or false/,
  ],
  [
    deployment(pod(`${CONTAINER}}]`, ', annotations: {revision: 3}')),
    /^spec\.template\.metadata\.annotations\.revision: .*a number/,
  ],
];

/** Manifests of whose object something is wrong, whatever their fields are. Those that the API refuses at once. */
export const NO_OBJECTS: readonly (readonly [text: string, says: RegExp])[] = [
  [named('ConfigMap', 'my_config'), /^metadata\.name: .* found "my_config"\. Rename it\.$/],
  [named('ConfigMap', 'MyConfig'), /^metadata\.name: .*253 characters/],
  [named('Service', 'a.b'), /^metadata\.name: expected at most 63 characters/],
  [named('Namespace', 'a.b'), /^metadata\.name: expected at most 63 characters/],
  [object('ServiceAccount', '', ', labels: {site: "shop 42"}'), /^metadata\.labels\.site: .*63/],
  [object('ServiceAccount', '', ', labels: {a/b/c: x}'), /^metadata\.labels: expected a key/],
  [
    object('ServiceAccount', '', ', annotations: {-a: x}'),
    /^metadata\.annotations: expected a key/,
  ],
  [object('ServiceAccount', '', ', labels: [a, b]'), /^metadata\.labels: .* found a list/],
  [object('ServiceAccount', '', ', annotations: a=b'), /^metadata\.annotations: .*another value/],
  [
    `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: "a/b"}\nrules: []`,
    /^metadata\.name: expected a name without "\/"/,
  ],
  [
    deployment('{metadata: {labels: {a: c}}, spec: {containers: [{name: a, image: b}]}}'),
    /^spec\.template\.metadata\.labels: .* found "a" otherwise/,
  ],
  [
    object('Secret', 'type: kubernetes.io/tls\nstringData: {tls.crt: x}'),
    /^data: expected the key tls\.key in a Secret of type kubernetes\.io\/tls, found none/,
  ],
  [object('Secret', 'type: kubernetes.io/ssh-auth\nstringData: {id: x}'), /the key ssh-privatekey/],
  [
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: till.example.com}\nspec: {group: example.com, names: {plural: tills, kind: Till}, scope: Cluster, versions: []}',
    /^metadata\.name: .* which are "tills\.example\.com", found "till\.example\.com"\. Rename it\.$/,
  ],
  [
    object('Secret', 'stringData: {a: "ENC[x]"}\nsops: {mac: "ENC[y]", version: 3.9.0}'),
    /^sops: .*Decrypt it/,
  ],
];

const typed = (type: string, fields: string) =>
  object('Secret', `type: kubernetes.io/${type}\n${fields}`);
const workload = (kind: string, spec: string) =>
  `apiVersion: apps/v1\nkind: ${kind}\nmetadata: {name: a, namespace: default}\nspec: {template: ${pod('containers: [{name: a, image: b}]')}, ${spec}}`;
const KIB = 1024;
const long = (bytes: number) => 'x'.repeat(bytes);
const definition = (descriptionBytes: number) =>
  `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: n${descriptionBytes}s.example.com}\nspec: {group: example.com, names: {plural: n${descriptionBytes}s, kind: N${descriptionBytes}}, scope: Cluster, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, description: ${long(descriptionBytes)}}}}]}`;

/** The same of parts of objects: what pods are made from, data, and sizes. */
export const NO_PARTS: readonly (readonly [text: string, says: RegExp])[] = [
  ...['a b', 'a/b', '..x', '.', long(254)].flatMap((key) => [
    [object('ConfigMap', `data: {${key}: x}`), /^data: expected keys of at most 253 /] as const,
    [object('Secret', `stringData: {${key}: x}`), /^stringData: expected keys/] as const,
  ]),
  [object('Secret', 'data: {a b: YQ==}'), /^data: expected keys .* found "a b"\. Rename it\.$/],
  [
    object('ConfigMap', 'data: {a: x}\nbinaryData: {a: YQ==}'),
    /^binaryData: expected other keys than in data, found "a" in both/,
  ],
  [object('ConfigMap', `data: {a: ${long(1024 * KIB + 1)}}`), /^data: .*1048576 .*1048577\. Div/],
  [typed('dockercfg', 'stringData: {a: b}'), /^data: expected the key \.dockercfg in /],
  [typed('dockercfg', 'stringData: {.dockercfg: "[]"}'), /^data: expected a mapping as JSON/],
  [typed('dockerconfigjson', 'stringData: {.dockerconfigjson: "{a"}'), /in the key \.dockerconfig/],
  [typed('dockerconfigjson', 'data: {.dockerconfigjson: YQ==}'), /a mapping as JSON/],
  [typed('basic-auth', 'stringData: {user: b}'), /^data: expected the key username or password/],
  [typed('ssh-auth', 'stringData: {ssh-privatekey: ""}'), /^data: expected a key in ssh-private/],
  [typed('service-account-token', 'data: {}'), /^metadata\.annotations: .*service-account\.name/],
  [
    'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: system-till}\nvalue: 1000',
    /^metadata\.name: .*begin with "system-"/,
  ],
  [
    object('ServiceAccount', '', `, annotations: {a: ${long(256 * KIB)}}`),
    /^metadata\.annotations: expected at most 262144 bytes in all, found 262145/,
  ],
  [workload('Deployment', ''), /^spec\.selector: expected what selects the pods, found nothing/],
  [workload('DaemonSet', 'selector: {}'), /^spec\.selector: /],
  [workload('StatefulSet', 'selector: {matchLabels: {}}'), /^spec\.selector: /],
  [workload('ReplicaSet', 'selector: {matchExpressions: []}'), /^spec\.selector: /],
  [workload('Deployment', 'selector: {matchLabels: {c: ""}}'), /^spec\.template.* found "c"/],
  [
    deployment('{metadata: {labels: {a: b, c: "d e"}}, spec: {containers: [{name: a, image: b}]}}'),
    /^spec\.template\.metadata\.labels\.c: .*found "d e"/,
  ],
  [
    job(
      pod('restartPolicy: Never, containers: [{name: a, image: b}]', ', annotations: {a/b/c: x}'),
    ),
    /^spec\.template\.metadata\.annotations: expected a key/,
  ],
  [
    cronJob(
      '{metadata: {labels: {-a: b}}, spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}',
    ),
    /^spec\.jobTemplate\.spec\.template\.metadata\.labels: expected a key/,
  ],
];

/** Right ones. */
export const PARTS: readonly string[] = [
  object('ConfigMap', `data: {${long(253)}: x, -._A: , .a: }`),
  object('ConfigMap', `data: {a: "${'\\n'.repeat(1024 * KIB)}"}`),
  object('Secret', `data: {a: ${'YWFh'.repeat(340 * KIB)}}`),
  object('Secret', 'data: {a: YQ==}\nstringData: {a: b}'),
  typed('dockercfg', 'data: {.dockercfg: e30=}'),
  typed('dockerconfigjson', 'stringData: {.dockerconfigjson: "{}"}'),
  typed('dockerconfigjson', 'stringData: {.dockerconfigjson: "null"}'),
  typed('basic-auth', 'stringData: {password: ""}'),
  object(
    'Secret',
    'type: kubernetes.io/service-account-token',
    ', annotations: {kubernetes.io/service-account.name: default}',
  ),
  'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: a, labels: {}}\nvalue: 1000',
  object('ServiceAccount', '', `, annotations: {a: ${long(256 * KIB - 1)}}`),
  workload('Deployment', 'selector: {matchExpressions: [{key: a, operator: Exists}]}'),
  deployment('{metadata: {labels: {a: b, c: }}, spec: {containers: [{name: a, image: b}]}}'),
  ...[
    ['""', ''],
    ['', '""'],
    ['', ''],
  ].map(
    ([selected, labelled]) =>
      `apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a, namespace: default}\nspec: {selector: {matchLabels: {a: ${selected}}}, template: {metadata: {labels: {a: ${labelled}}}, spec: {containers: [{name: a, image: b}]}}}`,
  ),
  definition(1400 * KIB),
];

const unserved = (apiVersion: string, kind: string) =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}`;

/** The same of those that the API does not refuse for good, so that they are tried until the deadline. */
export const UNKNOWN: readonly (readonly [text: string, says: RegExp])[] = [
  [definition(1536 * KIB), /^the object: expected at most 1572864 bytes as JSON, found/],
  [object('configmap', ''), /^kind: expected ConfigMap of v1, found configmap of v1\./],
  [object('Deployment', ''), /^kind: expected Deployment of apps\/v1, found Deployment of v1\./],
  [
    'apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: a}',
    /^kind: expected Ingress of networking\.k8s\.io\/v1, .*see whether the fields/,
  ],
  ['apiVersion: apps/v1\nkind: Pod\nmetadata: {name: a}', /^kind: expected Pod of v1/],
  ['apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}', /of policy\/v1,/],
  [unserved('autoscaling/v2beta2', 'HorizontalPodAutoscaler'), /of autoscaling\/v2, found/],
  [unserved('apps/v1', 'Deploymnet'), /^kind: expected Deployment of apps\/v1, found Deploymnet /],
  [unserved('policy/v1beta1', 'PodSecurityPolicy'), /^kind: expected one that Kubernetes serves/],
  [unserved('policy/v1', 'Eviction'), /^kind: expected one .* in policy\/v1, found "Eviction"/],
  [unserved('v1', 'ConfigMaps'), /^kind: expected ConfigMap of v1, found ConfigMaps of v1/],
  [unserved('v1beta1', 'AgentConfig'), /^kind: expected one that .* found "AgentConfig"/],
  [unserved('v2', 'ConfigMap'), /^kind: expected ConfigMap of v1, found ConfigMap of v2/],
  [
    unserved('admissionregistration.k8s.io/v1beta1', 'ValidatingWebhookConfiguration'),
    /of admissionregistration\.k8s\.io\/v1, found/,
  ],
  [unserved('coordination.k8s.io/v1beta1', 'Lease'), /of coordination\.k8s\.io\/v1, found/],
  [unserved('discovery.k8s.io/v1beta1', 'EndpointSlice'), /of discovery\.k8s\.io\/v1, found/],
  [unserved('scheduling.k8s.io/v1alpha1', 'PriorityClass'), /of scheduling\.k8s\.io\/v1, found/],
  [unserved('resource.k8s.io/v1beta1', 'deviceclass'), /DeviceClass of resource\.k8s\.io\/v1, /],
  [unserved('app/v1', 'Deployment'), /^apiVersion: .* found "app"\. Did you mean apps\?$/],
  [unserved('rbac/v1', 'Role'), /found "rbac"\. Did you mean rbac\.authorization\.k8s\.io\?$/],
  [unserved('foo/v1', 'Foo'), /^apiVersion: expected a group .* found "foo"\. See "kubectl/],
  [
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop_1}',
    /^metadata\.namespace: expected at most 63/,
  ],
];

/** Right ones. */
export const OBJECTS: readonly string[] = [
  object('Secret', 'type: kubernetes.io/ssh-auth\nstringData: {ssh-privatekey: x}'),
  object('Secret', 'type: example.com/own\nstringData: {}'),
  named('ConfigMap', `${'long-'.repeat(30)}name.0`),
  object(
    'ServiceAccount',
    '',
    ', labels: {app.kubernetes.io/name: a_B.c, x: ""}, annotations: {Example.com/x: "any text: {1}"}',
  ),
  ...['ClusterRole', 'Role'].map(
    (kind) =>
      `apiVersion: rbac.authorization.k8s.io/v1\nkind: ${kind}\nmetadata: {name: "a, Shop:reader"}\nrules: []`,
  ),
  deployment('{metadata: {labels: {a: b, c: d}}, spec: {containers: [{name: a, image: b}]}}'),
  'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a, namespace: default}\nspec: {maxReplicas: 2, scaleTargetRef: {kind: Deployment, name: a, apiVersion: apps/v1}}',
];

/** Right ones. */
export const TEXTS: readonly string[] = [
  object('ConfigMap', 'data: {port: "8080", none: , empty: ""}\nbinaryData: {a: YQ==}'),
  object('Secret', 'stringData: {a: b}\ndata: {c: "YWJj\\nZGVm\\n", d: "", e: }'),
  object('ServiceAccount', '', ', labels: {tier: "on", none: }, annotations: {}'),
  deployment(
    pod(
      `${CONTAINER}args: ["8080", ~], env: [{name: A, value: "1"}, {name: B, value: }, {name: C, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]}]`,
    ),
  ),
];
