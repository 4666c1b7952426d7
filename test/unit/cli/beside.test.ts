/** What lies beside install-config.yaml, and what is in it that no host could use. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { GOOD_SITE } from '../config/site-config/good-site.ts';
import { agentsExecutable } from './agents-executable.ts';
import { edited } from './install-config-file.ts';
import { type Run, sno } from './run-sno.ts';

async function folder(
  t: Test,
  files: Readonly<Record<string, string>>,
  config = edited([]),
): Promise<(...more: string[]) => Promise<Run>> {
  const root = t.testdir({ 'sno-agents': agentsExecutable(), cluster: {} });
  const dir = join(root, 'cluster');
  const all = { ...(config === '' ? {} : { 'install-config.yaml': config }), ...files };
  for (const [path, contents] of Object.entries(all)) {
    await mkdir(join(dir, path, '..'), { recursive: true });
    await writeFile(join(dir, path), contents);
  }
  const executable = ['--agents-executable', join(root, 'sno-agents')];
  return (...more) =>
    sno(['create', 'single-node-ignition-config', '--dir', dir, ...executable, ...more]);
}

t.test('files of other programs are named', async (t) => {
  const names = {
    'agent-config.yaml': '',
    'extra-manifests/a.yaml': '',
    'install-config.yml': '',
    'README.md': '',
    'backup_to.json': '{}',
    'manifest/a.yaml': '',
    'settings.json': '{}',
    'worker.ign.old': '',
  };
  const { code, err } = await (await folder(t, names))();
  t.equal(code, 0);
  const named = err.split('\n').filter((line) => line.includes('is not read'));
  t.match(named, [
    /^Notice: .*agent-config\.yaml is not read: .*networkConfig/,
    /^Notice: .*backup_to\.json is not read: did you mean backup-to\.json\?/,
    /^Notice: .*extra-manifests is not read: move its manifests to manifests/,
    /^Notice: .*install-config\.yml is not read/,
    /^Notice: .*manifest is not read: did you mean manifests\?/,
    /^Notice: .*settings\.json is not read: name it with --settings/,
  ]);
  t.equal(named.length, 6);
});

t.test('beside site-config.yaml, too', async (t) => {
  const dir = t.testdir({
    'site-config.yaml': GOOD_SITE,
    manifests: {},
    openshift: {},
    'extra-manifest': {},
    'extra-manifests': {},
    'report-to.jsn': '',
    auth: {},
  });
  const verify = async () => {
    const { code, err } = await sno(['verify', 'site-config', join(dir, 'site-config.yaml')]);
    t.equal(code, 0, err);
    return err.split('\n').filter((line) => line.includes('is not read'));
  };
  t.match(await verify(), [
    /extra-manifest is not read: did you mean extra-manifests\?/,
    /\/manifests is not read: move its manifests to extra-manifests/,
    /openshift is not read: move its manifests to extra-manifests/,
    /report-to\.jsn is not read: did you mean report-to\.json\?/,
  ]);
  await writeFile(join(dir, 'install-config.yaml'), '');
  t.same(await verify(), [], 'they are of the installation');
});

t.test('install-config.yml alone', async (t) => {
  const { code, err } = await (await folder(t, { 'install-config.yml': edited([]) }, ''))();
  t.equal(code, 2);
  t.match(err, /install-config\.yaml does not exist.*found .*install-config\.yml.*Rename it/);
});

t.test('a file where the folder with manifests belongs', async (t) => {
  const { code, err } = await (await folder(t, { openshift: 'apiVersion: v1\n' }))();
  t.equal(code, 2);
  t.match(err, /openshift: expected a folder, found a file\. Put it into a folder of this name/);
});

t.test("an editor's backup is no manifest", async (t) => {
  const names = ['a.yaml~', '#a.yaml#', '.a.yaml.swp', 'a.yaml.bak', 'a.yaml.orig', '.#a.yaml'];
  const files = Object.fromEntries(names.map((name) => [`manifests/${name}`, '{{ not yaml']));
  const { code, err } = await (await folder(t, files))();
  t.equal(code, 0, err);
  for (const name of names) t.match(err, `manifests/${name}`);
  t.match(err, /Notice: not included/);
});

/** `@{A}` stands for the placeholder, which the linter takes for a mistake. */
const own = (text: string) => text.replaceAll('@{', '${');
const object = (fields: string, kind = 'v1, kind: Service') =>
  `{apiVersion: ${kind}, metadata: {name: a}, ${fields}}\n`;

t.test('a template that nobody has rendered', async (t) => {
  const refused: Record<string, string> = {
    'a name': 'apiVersion: v1\nkind: Secret\nmetadata: {name: "@{NAME}"}\n',
    'a part of a name': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "a-{{ site }}"}\n',
    'a label': 'apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {site: "@{SITE}"}}\n',
    'a name of another group': 'apiVersion: x.io/v1\nkind: X\nmetadata: {name: "{{name}}"}\n',
    'a whole value': object('spec: {type: "{{ .Values.type }}"}'),
    'a whole value in a list': object('spec: {externalIPs: ["@{IP}"]}'),
    'a part of an image': object(
      'spec: {containers: [{name: a, image: "r.io/a:@{TAG}"}]}',
      'v1, kind: Pod',
    ),
    'a key': object('spec: {selector: {"@{KEY}": b}}'),
    "Helm's own in a variable": object(
      'spec: {containers: [{name: a, env: [{name: A, value: "{{ .Values.a }}"}]}]}',
      'v1, kind: Pod',
    ),
    'the Secret of a variable': object(
      'spec: {containers: [{name: a, env: [{name: A, valueFrom: {secretKeyRef: {name: "@{A}"}}}]}]}',
      'v1, kind: Pod',
    ),
    'without quotes': 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {{ spec }}\n',
  };
  for (const [name, text] of Object.entries(refused)) {
    const { code, err } = await (await folder(t, { 'manifests/a.yaml': own(text) }))();
    t.equal(code, 2, name);
    t.match(err, /manifests\/a\.yaml:\d+: .*(placeholder of a template|render it first)/, name);
  }
  const accepted: Record<string, string> = {
    'a script': object('spec: {containers: [{name: a, image: b, args: ["echo @{HOME} {{x}}"]}]}'),
    'a text of a ConfigMap': object('data: {t: "{{ x }}", u: "@{v}"}', 'v1, kind: ConfigMap'),
    'an annotation':
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {t: "{{ x }}"}}\n',
    'what provisioners of storage fill in': object(
      'provisioner: a, parameters: {csi.storage.k8s.io/provisioner-secret-name: "@{pvc.name}"}',
      'storage.k8s.io/v1, kind: StorageClass',
    ),
    'attributes of a volume': object(
      'spec: {csi: {driver: a, volumeHandle: "@{A}", volumeAttributes: {a: "@{pvc.namespace}"}}}',
      'v1, kind: PersistentVolume',
    ),
    'what a container reads': object(
      'spec: {containers: [{name: a, image: b, command: ["@{SHELL}"], args: ["$(A)", "{{.ID}}"], env: [{name: A, value: "@{B}"}], livenessProbe: {exec: {command: ["@{C}"]}}}]}',
      'v1, kind: Pod',
    ),
    'the annotation of a template': object(
      'template: {metadata: {annotations: {a: "{{ .Name }}", b: "@{B}"}}}',
      'v1, kind: PodTemplate',
    ),
    'the message of a policy': object(
      'spec: {validations: [{expression: "true", message: "@{M}", messageExpression: "@{E}"}]}',
      'admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy',
    ),
    'the schema of a definition':
      'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.io}\nspec: {group: x.io, names: {plural: as, kind: A}, scope: Cluster, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {name: {type: string, description: "such as {{ workflow.name }}", default: "@{A}"}}}}}]}\n',
    'an alert': object(
      'spec: {t: "{{ $value }}"}',
      'monitoring.coreos.com/v1, kind: PrometheusRule',
    ),
    'a template of its own': object(
      'objects: ["@{X}"]',
      'template.openshift.io/v1, kind: Template',
    ),
  };
  for (const [name, text] of Object.entries(accepted)) {
    const { code, err } = await (await folder(t, { 'manifests/a.yaml': own(text) }))();
    t.equal(code, 0, `${name} ${err}`);
  }
});

t.test('a file of many objects is larger than any of them may be', async (t) => {
  const one = (name: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata:\n  a: |\n${'    some text\n'.repeat(2500)}`;
  const stream = Array.from({ length: 59 }, (_, at) => one(`c-${at}`)).join('---\n');
  const items = ['a', 'b', 'c'].map((name) => ({
    metadata: { name },
    data: { text: 'x'.repeat(400 * 1024) },
  }));
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMapList', items });
  const files = { 'manifests/a.yaml': stream, 'manifests/b.json': list };
  const { code, err } = await (await folder(t, files))();
  t.equal(code, 0, err);
});

t.test('an executable for another architecture than the host', async (t) => {
  for (const [config, code] of [
    ['amd64', 0],
    ['arm64', 2],
  ] as const) {
    const text = edited([['replicas: 1', `replicas: 1\n  architecture: ${config}`]]);
    const run = await (await folder(t, {}, text))();
    t.equal(run.code, code, run.err);
    if (code === 2)
      t.match(run.err, /expected sno-agents for arm64, as controlPlane\.architecture/);
  }
});

t.test('a file of another kind is one fault', async (t) => {
  const files: Record<string, RegExp> = {
    'apiVersion: v1beta1\nkind: AgentConfig\nmetadata: {name: a}\n': /found an AgentConfig/,
    'apiVersion: siteconfig.open-cluster-management.io/v1alpha1\nkind: ClusterInstance\n':
      /found a ClusterInstance/,
    'variant: openshift\nversion: 4.16.0\nmetadata: {name: a}\n': /found a Butane config/,
    'version: v1alpha1\nmachine: {type: controlplane}\ncluster: {}\n': /of Talos/,
    'write-kubeconfig-mode: "0644"\ntls-san: [a]\n': /of k3s/,
    'api_version: 1\ncluster_name: a\nbase_domain: b\n': /found a site-config.yaml/,
    '{"ignition": {"version": "3.2.0"}}': /found an Ignition config/,
    'network: {version: 2, bonds: {}}\n': /found none of its fields, but "network"\./,
    '#cloud-config\nusers: []\npackages: [a]\n': /none of its fields, but "users", "packages"\./,
    '{"auths": {"quay.io": {"auth": "dXNlcjpwYXNz"}}}': /none of its fields, but "auths"\./,
    'baseDomain: ENC[AES256_GCM,data:x]\nsops: {mac: x}\n': /a file that sops has encrypted/,
    '-----BEGIN CERTIFICATE-----\nAAAA\n': /found a text without fields\./,
    'apiVersion: v1\n<<<<<<< HEAD\nbaseDomain: a.com\n=======\nbaseDomain: b.com\n>>>>>>> b\n':
      /install-config\.yaml:2:1 .*a conflict of a merge/,
  };
  for (const [text, found] of Object.entries(files)) {
    const { code, err } = await (await folder(t, {}, text))();
    t.equal(code, 2);
    t.match(err, /1 error in/, text);
    t.match(err, found);
  }
});

t.test('a missing blank and an open quote have their place', async (t) => {
  const line = (text: string) => edited([]).split('\n').indexOf(text) + 1;
  const base = 'baseDomain: example.com';
  t.ok(line(base) > 0);
  const glued = await (await folder(t, {}, edited([[base, 'baseDomain:example.com']])))();
  t.match(glued.err, `install-config.yaml:${line(base)}:11 baseDomain: expected a blank after`);
  const open = await (await folder(t, {}, edited([[base, 'baseDomain: "example.com']])))();
  t.match(open.err, `install-config.yaml:${line(base)}:13 YAML: expected a text that its quote`);
  const braces = await (await folder(t, {}, edited([[base, 'baseDomain: {{ domain }}, x']])))();
  t.match(
    braces.err,
    `install-config.yaml:${line(base)}:13 YAML: expected a value, or a placeholder`,
  );
  for (const [text, place] of [
    [edited([[base, base.replace(' ', '\u00a0')]]), `${line(base)}:12 YAML: .* found U\\+00A0`],
    [edited([['- name: worker', '\u2013 name: worker']]), '6:1 YAML: .* found U\\+2013'],
    [edited([[base, base.replace(':', '\uff1a')]]), `${line(base)}:11 YAML: .* found U\\+FF1A`],
    [edited([['  name: sno', '\u00a0 name: sno']]), '4:1 YAML: .* found U\\+00A0'],
  ] as const) {
    const { code, err } = await (await folder(t, {}, text))();
    t.equal(code, 2);
    t.match(err, new RegExp(`install-config.yaml:${place}`));
  }
  const inside = await (await folder(t, {}, edited([['name: sno', 'name:sno']])))();
  t.match(inside.err, /metadata\.name: expected a blank after the colon, found none/);
});

t.test('a field that belongs elsewhere', async (t) => {
  const { err } = await (
    await folder(t, {}, edited([['baseDomain:', 'networkType: OVNKubernetes\nbaseDomain:']]))
  )();
  t.match(err, /networkType: expected no such field here.* It belongs below networking\./);
});

t.test('a fault in the JSON of the pull secret has its place', async (t) => {
  const secret = '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}';
  const table: [broken: string, says: RegExp][] = [
    [secret.slice(0, -1), /a missing \} at character 45/],
    [secret.replace(':{"auth"', '{"auth"'), /a missing colon at character 20/],
    [secret.replace('}}}', '},}}'), /at character 4\d/],
    [secret.replace('"auths"', 'auths'), /at character 2/],
  ];
  for (const [broken, says] of table) {
    const { code, err } = await (await folder(t, {}, edited([[secret, broken]])))();
    t.equal(code, 2);
    t.match(err, says, broken);
    t.notMatch(err, 'dXNlcjpwYXNz');
  }
});
