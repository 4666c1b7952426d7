const object = (kind: string, fields: string, metadata = '') =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: {name: a, namespace: default${metadata}}\n${fields}`;

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
