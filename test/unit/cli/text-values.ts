const object = (kind: string, fields: string, metadata = '') =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: {name: a, namespace: default${metadata}}\n${fields}`;

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
];

/** Right ones. */
export const TEXTS: readonly string[] = [
  object('ConfigMap', 'data: {port: "8080", none: , empty: ""}\nbinaryData: {a: YQ==}'),
  object('Secret', 'stringData: {a: b}\ndata: {c: "YWJj\\nZGVm\\n", d: "", e: }'),
  object('ServiceAccount', '', ', labels: {tier: "on", none: }, annotations: {}'),
];
