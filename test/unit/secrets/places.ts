import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';

/** A place in a bundle where a secret can occur. */
export interface Place {
  readonly name: string;
  /** What identifies the value as a secret: its place, the name beside it, or only its form. */
  readonly tells: 'place' | 'name' | 'looks';
  write(field: string, value: string): string;
}

const PREFIX = '2026-11-21T14:58:25.015507+0000 sno-0 app[4242]: ';
const variable = (field: string) => `APP_${field.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
/** As quoted by Go; JSON's escapes are the same for these texts. */
const quoted = (text: string) => JSON.stringify(text);
const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const xml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const isWord = (text: string) => /^[^\s"]+$/.test(text);
const oneLine = (text: string) => (isWord(text) ? text : quoted(text));
const encode = (text: string | Buffer) => Buffer.from(text).toString('base64');
const json = (value: unknown) => `${JSON.stringify(value)}\n`;
const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const lines = (...all: string[]) => `${all.join('\n')}\n`;

const secretOf = (field: string, value: string) => ({
  apiVersion: 'v1',
  data: { [field]: encode(value) },
  kind: 'Secret',
  metadata: { name: 'credentials', namespace: 'default' },
  type: 'Opaque',
});

const configMap = (name: string, text: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'config' },
  data: { [name]: text },
});

const container = (extra: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'app', namespace: 'default' },
  spec: { containers: [{ name: 'app', image: 'quay.io/app@sha256:0', ...extra }] },
});

const place = (name: string, write: (field: string, value: string) => string): Place => ({
  name,
  tells: 'name',
  write,
});

const nameless = (name: string, write: (field: string, value: string) => string): Place => ({
  name,
  tells: 'looks',
  write,
});

const secretPlace = (name: string, write: (field: string, value: string) => string): Place => ({
  name,
  tells: 'place',
  write,
});

export const PLACES: readonly Place[] = [
  place('a line of the journal', (field, value) =>
    lines(`${PREFIX}starting`, `${PREFIX}using ${field}=${oneLine(value)} for it`, `${PREFIX}ok`),
  ),
  place('a line with a colon', (field, value) => lines(`${PREFIX}${field}: ${oneLine(value)}`)),
  place('the journal as JSON', (field, value) =>
    json({ MESSAGE: `got ${field}=${oneLine(value)}`, _PID: '1', PRIORITY: '6' }),
  ),
  place('a line of klog', (field, value) =>
    lines(
      `I1121 14:58:25.015507    4242 loader.go:395] "Loaded" ${field}=${quoted(value)} err="<nil>"`,
    ),
  ),
  place('a line of pino', (field, value) =>
    json({ level: 30, time: 1, [field]: value, msg: 'loaded' }),
  ),
  place('a dump of the environment', (field, value) =>
    lines('PATH=/usr/bin', `${variable(field)}=${oneLine(value)}`, 'HOME=/root'),
  ),
  place("a manifest's environment", (field, value) =>
    stringify(container({ env: [{ name: variable(field), value }] })),
  ),
  place("a manifest's environment in a log", (field, value) =>
    lines(`        - name: ${variable(field)}`, `          value: ${quoted(value)}`),
  ),
  place("a container's inspection", (field, value) =>
    pretty({
      info: { config: { envs: [{ key: 'A', value: 'b' }], env: [`${variable(field)}=${value}`] } },
    }),
  ),
  place("a container's environment", (field, value) =>
    pretty({ info: { runtimeSpec: { process: { env: [{ name: variable(field), value }] } } } }),
  ),
  place('an argument', (field, value) =>
    lines(`root  4242  0.0 /usr/bin/app --${field}=${oneLine(value)} --verbose`),
  ),
  place('an argument that is the next word', (field, value) =>
    json(container({ command: ['app', `--${field}`, value, '--verbose'] })),
  ),
  place('a command line of /proc', (field, value) =>
    ['app', `--${field}=${value}`, '--verbose', ''].join('\0'),
  ),
  place('a parameter of a URL', (field, value) =>
    lines(
      `${PREFIX}GET https://api.example.com/v1?a=1&${field}=${encodeURIComponent(value)}&b=2 200`,
    ),
  ),
  secretPlace('an Ignition config', (field, value) =>
    json({
      ignition: { version: '3.4.0' },
      storage: {
        files: [
          {
            path: '/etc/x',
            contents: { source: `data:,${encodeURIComponent(`${field}=${value}`)}` },
          },
        ],
      },
    }),
  ),
  secretPlace('a gzipped file of an Ignition config', (field, value) =>
    json({
      storage: {
        files: [
          {
            path: '/etc/x',
            contents: {
              compression: 'gzip',
              source: `data:;base64,${encode(gzipSync(`${field}=${value}`))}`,
            },
          },
        ],
      },
    }),
  ),
  place('an Ignition config in a log', (field, value) =>
    lines(`${PREFIX}fetched {"source":"data:;base64,${encode(`${field}=${value}`)}"}`),
  ),
  place('a kubeconfig', (field, value) =>
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      users: [{ name: 'admin', user: { [field]: value } }],
    }),
  ),
  secretPlace('a Secret', (field, value) => stringify(secretOf(field, value))),
  secretPlace('a Secret in plain text', (field, value) =>
    stringify({ kind: 'Secret', metadata: { name: 'x' }, stringData: { [field]: value } }),
  ),
  secretPlace('a list of Secrets', (field, value) =>
    json({
      kind: 'SecretList',
      apiVersion: 'v1',
      items: [{ ...secretOf(field, value), kind: undefined }],
    }),
  ),
  secretPlace('a Secret that a program printed as YAML', (field, value) =>
    lines('applying', stringify(secretOf(field, value)), 'done'),
  ),
  secretPlace('a Secret that a program printed as JSON', (field, value) =>
    lines('applying', JSON.stringify(secretOf(field, value), null, 4), 'done'),
  ),
  place('JSON in a ConfigMap', (field, value) =>
    json(configMap('config.json', JSON.stringify({ a: { [field]: value } }))),
  ),
  place('YAML in a ConfigMap', (field, value) =>
    stringify(configMap('config.yaml', stringify({ a: { [field]: value } }, { lineWidth: 0 }))),
  ),
  place('the last applied configuration', (field, value) => {
    const applied = JSON.stringify(container({ env: [{ name: variable(field), value }] }));
    return json({
      kind: 'Pod',
      metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied } },
    });
  }),
  secretPlace('the last applied configuration of a Secret', (field, value) => {
    const applied = JSON.stringify(secretOf(field, value));
    return json({
      kind: 'Secret',
      metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied } },
    });
  }),
  place('the network state', (field, value) =>
    stringify({ interfaces: [{ name: 'wlan0', type: 'wifi', '802.1x': { [field]: value } }] }),
  ),
  place('a connection of NetworkManager', (field, value) =>
    lines('[wifi-security]', 'key-mgmt=wpa-psk', `${field}=${oneLine(value)}`),
  ),
  place("a unit's environment", (field, value) =>
    lines('[Service]', `Environment=${quoted(`${variable(field)}=${value}`)}`, 'Restart=always'),
  ),
  place('a trace of a shell', (field, value) =>
    lines(`${PREFIX}+ export ${variable(field)}=${shell(value).replaceAll('\n', '\\n')}`),
  ),
  place('a struct that Go printed', (field, value) =>
    lines(`${PREFIX}config: {Name:app ${field}:${oneLine(value)} Port:80}`),
  ),
  place('a struct that Go printed as source', (field, value) =>
    lines(`${PREFIX}&app.Config{Name:"app", ${field}:${quoted(value)}, Port:80}`),
  ),
  nameless('a struct that Go printed without names', (_, value) =>
    lines(`${PREFIX}config: {app ${oneLine(value)} 80}`),
  ),
  place('JSON that Go quoted', (field, value) =>
    lines(`${PREFIX}msg="got ${quoted(JSON.stringify({ [field]: value })).slice(1, -1)}"`),
  ),
  place('the header of a request', (field, value) =>
    lines(`${PREFIX}> GET / HTTP/1.1`, `${PREFIX}> X-${field}: ${oneLine(value)}`),
  ),
  place('headers that Go printed', (field, value) =>
    lines(`${PREFIX}map[Accept:[*/*] ${field}:[${oneLine(value)}] X:[1]]`),
  ),
  nameless('lines of the journal', (_, value) =>
    lines(...['begin', ...value.split('\n'), 'end'].map((line) => PREFIX + line)),
  ),
  nameless('the end of a file', (_, value) => `certificate\n${value}`),
  place('TOML', (field, value) =>
    lines(
      '[plugins."io.containerd.grpc.v1.cri".registry.configs."r".auth]',
      `  ${quoted(field)} = ${quoted(value)}`,
    ),
  ),
  nameless('CSV', (_, value) => lines('name,value', `app,${quoted(value)}`)),
  place('XML', (field, value) =>
    lines(`<config><${field}>${xml(oneLine(value))}</${field}></config>`),
  ),
  nameless('base64', (_, value) => lines(`${PREFIX}payload ${encode(value)}`)),
  nameless('base64 of base64', (_, value) => lines(`${PREFIX}payload ${encode(encode(value))}`)),
  place('gzipped JSON in base64', (field, value) =>
    lines(`${PREFIX}payload ${encode(gzipSync(JSON.stringify({ [field]: value })))}`),
  ),
  place('a file in base64 over many lines', (field, value) =>
    lines(
      ...(encode(`# settings of the application\n${field}=${oneLine(value)}\n`).match(/.{1,76}/g) ??
        []),
    ),
  ),
  place('a percent-encoded document', (field, value) =>
    lines(`${PREFIX}GET /?config=${encodeURIComponent(JSON.stringify({ [field]: value }))} 200`),
  ),
];
