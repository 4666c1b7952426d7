import t from 'tap';
import { standingOf, withCredentials } from '../../../cli/wait-for/own-kubeconfig.ts';
import {
  createAuthority,
  createLaptopAuthorities,
  issueLeaf,
} from '../../../lab/certificates/signed-now.ts';
import { writeGoDocuments, writeGoYaml } from '../../../lib/base/go-yaml/write.ts';
import { adminKubeconfig, kubeconfig, tokenKubeconfig } from '../../../lib/pki/kubeconfig.ts';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import { input, rendered } from '../../unit/render/rendered-host.ts';
import { syntaxTexts } from './corpus.ts';
import { askGo, canonicalJson } from './program.ts';
import { scalarTexts } from './scalar-texts.ts';

/** What a name may be, and YAML has another meaning for. */
const NAMES = [
  ...[
    'no',
    'on',
    'y',
    'n',
    'yes',
    'off',
    'true',
    'null',
    '~',
    '1e3',
    '0x1',
    '0o7',
    '0b1',
    '1',
    '007',
  ],
  ...['1-2', '2001-01-01', '22:22', '.inf', '1_000', '<<', '=', '-', 'e2', '12e4567', 'edge'],
];

const STRINGS = [
  ...new Set([
    ...scalarTexts.map((text) => text.replace(/^a: /, '')),
    ...[...syntaxTexts, ...NAMES],
    ...[
      '',
      ' ',
      '  x',
      'x ',
      '\n',
      '\n\n',
      'x\n',
      'x\n\n',
      '\nx',
      '\n x\n',
      ' \n',
      'x\n y\n',
      '\tx\n',
    ],
    ...[
      'x\n\ty',
      '\r',
      '\r\n',
      'a\rb',
      'a\u0085b',
      '\u2028',
      '\ufeff',
      '\u007f',
      '\0',
      '\u00a0',
      '😀',
    ],
    ...[
      '- x',
      '?',
      '? x',
      ':',
      ': x',
      'x:',
      'x #y',
      '#x',
      '---',
      '--- x',
      '...',
      '---\nx',
      'x\n---\ny\n',
    ],
    ...[
      '*a',
      '&a',
      '!a',
      '%a',
      '@a',
      '`a',
      "'",
      "''",
      '"',
      '\\',
      '"x"',
      "it's",
      '{',
      '[x]',
      ',',
      '|',
      '>',
    ],
    ...[
      'k'.repeat(2000),
      'long '.repeat(400),
      'a\n\n\nb\n',
      '  a\n b\n',
      '\n\n  a',
      '-----BEGIN X\nY\n',
    ],
  ]),
];

const NUMBERS = [
  ...[0, -0, 1, -1, 0.1, -1.5, 1e3, 1e20, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 2 ** 53],
  ...['9007199254740993', '-9223372036854775808', '18446744073709551615', '-0'].map((text) =>
    JSON.rawJSON(text),
  ),
];

const VALUES: readonly unknown[] = [
  ...STRINGS.flatMap((text) => [
    { a: text },
    { [text]: 1 },
    [text],
    text,
    { x: { y: [[{ z: text }]] } },
  ]),
  ...NUMBERS.flatMap((number) => [{ a: number }, [number]]),
  ...[
    { a: [], b: {}, c: [[]], d: [{}], e: null, f: true },
    [[1, [2, { a: [{ b: 1 }] }]]],
    [],
    {},
    null,
  ],
];

/** As Go writes it: a negative zero has its sign. */
const jsonOf = (value: unknown) =>
  canonicalJson(
    JSON.stringify(value, (_key, each: unknown) =>
      Object.is(each, -0) ? JSON.rawJSON('-0') : each,
    ),
  );

t.test('Go reads what was written', async (t) => {
  const answers = await askGo('documents', VALUES.map(writeGoYaml));
  const different = answers.flatMap(({ json, error }, at) => {
    const wanted = jsonOf(VALUES[at]);
    const found = json === undefined ? error : canonicalJson(json);
    return found === wanted ? [] : [{ wanted, found, text: writeGoYaml(VALUES[at]) }];
  });
  t.equal(answers.length, VALUES.length);
  t.strictSame(different, []);
  const objects = [{ a: 'no' }, { b: '---\n' }, { c: ['y'] }];
  const [all] = await askGo('documents', [writeGoDocuments(objects)]);
  t.strictSame(all?.documents.map(canonicalJson), objects.map(jsonOf));
});

t.test('kubectl loads the kubeconfigs of clusters with any name', async (t) => {
  const { servingCa, adminCa } = await createLaptopAuthorities();
  const subject = { commonName: 'x', organizations: ['sno:administrators'] };
  const leaf = await issueLeaf(adminCa, { subject, usage: 'client', lifetimeDays: 1 });
  const other = await createAuthority('other');
  const credentials = { kind: 'embedded', authority: servingCa.certificate, ...leaf } as const;
  const server = 'https://api.example.test:6443';
  for (const name of NAMES) {
    const admin = await adminKubeconfig('example.test', name, { servingCa, adminCa }, new Date());
    const texts = [
      admin,
      kubeconfig({ server, cluster: name, user: name, credentials }),
      withCredentials(`# kept\n${admin}`, other.certificate, leaf),
    ];
    const [first, named, exchanged] = await askGo('kubeconfigs', texts);
    const whole = { cluster: name, server };
    t.match(JSON.parse(first?.json ?? '{}'), { ...whole, currentContext: 'admin' });
    t.match(JSON.parse(named?.json ?? '{}'), { ...whole, currentContext: name, user: name });
    t.match(JSON.parse(exchanged?.json ?? '{}'), {
      ...whole,
      certificate: leaf.certificate,
      authority: other.certificate,
    });
    t.equal(standingOf(texts[2] ?? '', new Date()).kind, 'first');
    const token = { authority: '/ca.crt', token: name };
    const [tokenFor] = await askGo('documents', [
      tokenKubeconfig({ server, cluster: name, user: name }, token),
    ]);
    t.match(JSON.parse(tokenFor?.json ?? '{}'), { users: [{ name, user: { token: name } }] });
  }
});

t.test(
  'the kubelet reads the static pods, and Go the configurations, of a host with such names',
  async (t) => {
    for (const name of NAMES.filter((each) => /^[a-z0-9][a-z0-9-]*$/.test(each))) {
      const host = { ...input.host, hostname: name };
      const { staticPods, files } = await kubernetesRenderer.render({ ...input, host });
      const pods = await askGo(
        'pods',
        staticPods.map(({ manifest }) => manifest),
      );
      t.strictSame(
        pods.map(({ error }) => error),
        staticPods.map(() => undefined),
        name,
      );
      for (const [at, { json }] of pods.entries()) {
        t.match(JSON.parse(json ?? '{}'), {
          kind: 'Pod',
          metadata: { name: staticPods[at]?.component, namespace: 'kube-system' },
        });
      }
      const configurations = files.filter(({ path }) => /\.(?:yaml|conf|kubeconfig)$/.test(path));
      t.ok(configurations.length > 8, `${configurations.length} configurations`);
      const answers = await askGo(
        'documents',
        configurations.map(({ contents }) => contents),
      );
      for (const [at, { json, error }] of answers.entries()) {
        const { path = '' } = configurations[at] ?? {};
        t.match(
          JSON.parse(json ?? 'null'),
          { apiVersion: String, kind: String },
          `${path} ${error}`,
        );
      }
    }
    t.ok(rendered.staticPods.length > 3);
  },
);
