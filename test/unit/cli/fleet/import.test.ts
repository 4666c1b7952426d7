/** `sno fleet import`: what it prints of a table, and which tables and templates are refused. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { SPEC_LIMITS, siteSchema } from '../../../../cli/fleet/site.ts';
import { readGoYaml } from '../../../../lib/base/go-yaml/read.ts';
import { sno } from '../run-sno.ts';

/** `@{a}` stands for the placeholder, which the linter takes for a mistake. */
const own = (text: string) => text.replaceAll('@{', '${');
const TEMPLATE = own(
  'api_version: 1\ncluster_name: shop-@{number}\nbase_domain: example.com\nhosts: ["@{machine}"]\n',
);
const listSchema = z.object({ kind: z.literal('List'), items: z.array(z.unknown()) });

function importing(
  t: Test,
  table: string,
  more: readonly string[] = [],
  files: Record<string, string | object> = {},
) {
  const dir = t.testdir({
    'sites.csv': table,
    template: { 'site-config.yaml': TEMPLATE, ...files },
  });
  const args = ['--table', join(dir, 'sites.csv'), '--template', 'shop'];
  return sno(['fleet', 'import', ...args, ...more.map((each) => each.replace('DIR', dir))]);
}

const checked = ['--template-dir', 'DIR/template'];

t.test('a Site for each row, and the ConfigMap of their template', async (t) => {
  const table = [
    'site,wave,serial,delivery,bareMetalHost,hostFacts,number,machine',
    'berlin-0042,1,,,berlin,facts-1,0042,CZ1',
    'rome-0043,,7,person,,,yes,CZ2',
  ];
  const more = [...checked, '--namespace', 'shops', '--secrets', 'pull,more'];
  const manifests = {
    'extra-manifests': { 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' },
  };
  const { code, out, err } = await importing(t, table.join('\n'), more, manifests);
  t.equal(code, 0, err);
  const [map, ...sites] = listSchema.parse(readGoYaml(out)).items;
  t.match(map, {
    kind: 'ConfigMap',
    metadata: { name: 'shop', namespace: 'shops' },
    data: { 'site-config.yaml': TEMPLATE, 'extra-manifests.a.yaml': /kind: ConfigMap/ },
  });
  const [berlin, rome] = sites.map((site) => siteSchema.parse(site));
  t.same(berlin, {
    apiVersion: 'fleet.sno-agents.io/v1alpha1',
    kind: 'Site',
    metadata: { name: 'berlin-0042', namespace: 'shops', labels: { wave: '1' } },
    spec: {
      action: 'relocate',
      templateRef: { name: 'shop' },
      values: { number: '0042', machine: 'CZ1' },
      secretRefs: [{ name: 'pull' }, { name: 'more' }],
      hostFactsRef: { name: 'facts-1' },
      delivery: { by: 'virtualMedia', bareMetalHost: { name: 'berlin' } },
    },
  });
  t.match(rome?.spec, { serial: 7, values: { number: 'yes' }, delivery: { by: 'person' } });
  t.notOk(rome?.metadata.labels);
  t.notOk(rome?.spec.hostFactsRef);
});

t.test(
  'of new nodes: the template is an install-config, with the manifests beside it',
  async (t) => {
    const config = 'metadata: {name: "@{site}"}\npullSecret: "@{pull_secret}"\n'.replaceAll(
      '@',
      '$',
    );
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
    const openshift = { 'b.yaml': manifest };
    const files = { 'install-config.yaml': config, manifests: { 'a.yaml': manifest }, openshift };
    const args = ['--action', 'install', ...checked, '--secret-values', 'pull_secret'];
    const table = 'site,delivery\na,person\n';
    const deep = { ...files, openshift: { ...openshift, deep: { 'c.yaml': manifest } } };
    t.match(await importing(t, table, args, deep), {
      ...{ code: 2, err: /openshift\/deep\/c\.yaml: expected no folders/ },
    });
    const { out, err } = await importing(t, table, [...args, '--json'], files);
    t.match(JSON.parse(out).items, [
      {
        data: {
          'install-config.yaml': config,
          'manifests.a.yaml': manifest,
          'openshift.b.yaml': manifest,
        },
      },
      { spec: { action: 'install', delivery: { by: 'person' } } },
    ]);
    t.match(err, /no Secret has the values/);
    const undelivered = await importing(t, 'site\na\n', args, files);
    t.match(undelivered, { code: 2, err: /how is it to be delivered/ });
  },
);

t.test('the same as JSON', async (t) => {
  const { out } = await importing(t, 'site,delivery\na,url\n', ['--json']);
  t.match(JSON.parse(out), { kind: 'List', items: [{ metadata: { name: 'a' } }] });
});

const longest = 'x'.repeat(SPEC_LIMITS.value + 1);
const BAD: readonly (readonly [name: string, table: string, faults: readonly RegExp[]])[] = [
  [
    'names that a Site cannot have',
    'site,delivery\nA_b,url\n',
    [/line 2: site: expected a name of lower-case/],
  ],
  [
    'a name too long for a certificate',
    `site,delivery\n${'a'.repeat(46)},url\n`,
    [/line 2: site: expected at most 45 characters in the namespace sno-fleet/],
  ],
  ['a wave that is no label', 'site,wave,delivery\na,-1,url\n', [/line 2: wave: expected letters/]],
  [
    'serials',
    'site,serial,delivery\na,0,url\nb,1.5,url\nc,x,url\n',
    [/line 2: serial/, /line 3: serial/, /line 4: serial/],
  ],
  [
    'an unknown delivery',
    'site,delivery\na,pigeon\n',
    [/line 2: delivery: expected virtualMedia, url, person, found "pigeon"/],
  ],
  ['no delivery', 'site,number\na,1\n', [/line 2: expected a bareMetalHost, or delivery/]],
  [
    'virtual media of nothing',
    'site,delivery\na,virtualMedia\n',
    [/line 2: bareMetalHost: expected one/],
  ],
  [
    'a host that is not used',
    'site,delivery,bareMetalHost\na,url,b\n',
    [/expected none for delivery url/],
  ],
  ['names of objects', 'site,bareMetalHost,hostFacts\na,B_,../x\n', [/bareMetalHost/, /hostFacts/]],
  [
    'one node for two sites',
    'site,bareMetalHost,hostFacts,machine\na,b,f,CZ1\nc,b,g,cz2\nd,e,f,cz1\n',
    [
      /line 3: bareMetalHost: .*"b" is that of line 2/,
      /line 4: hostFacts: .*line 2/,
      /line 4: machine: .*line 2/,
    ],
  ],
  ['a site twice', 'site,delivery\na,url\na,url\n', [/line 3: site: "a" is there twice/]],
  [
    'a value that is too long',
    `site,delivery,note\na,url,${longest}\n`,
    [/note: expected at most 1024/],
  ],
  [
    'what is secret',
    'site,delivery,password,note\na,url,hunter22,https://u:pw@example.com\n',
    [/column password has something secret/, /column note has something secret/],
  ],
  ['recipients', 'site,delivery,recipient\na,url,age1x\n', [/column recipient: expected none/]],
];

for (const [name, table, faults] of BAD) {
  t.test(`refused: ${name}`, async (t) => {
    const { code, out, err } = await importing(t, table);
    t.equal(code, 2);
    t.equal(out, '', 'nothing is printed');
    t.match(err, `${faults.length} error`, err);
    for (const says of faults) t.match(err, says);
    t.notMatch(err, /hunter22|u:pw/, 'no secret is told');
  });
}

t.test('columns and placeholders', async (t) => {
  const missing = await importing(t, 'site,delivery,number\na,url,1\n', checked);
  t.equal(missing.code, 2);
  t.match(missing.err, /machine\}: expected a column machine, or its name in --secret-values/);
  const secret = await importing(t, 'site,delivery,number\na,url,1\n', [
    ...checked,
    ...['--secret-values', 'machine'],
  ]);
  t.equal(secret.code, 0, secret.err);
  t.match(secret.err, /not checked by the rules of site-config\.yaml/);
  t.match(secret.err, /no Secret has the values/);
  const both = await importing(t, 'site,delivery,number,machine\na,url,1,b\n', [
    ...checked,
    ...['--secret-values', 'machine'],
  ]);
  t.match(both.err, /column machine: expected none/);
  const fields = { 'site-config.yaml': `${TEMPLATE}serial: ${own('@{serial}')}\n` };
  const table = 'site,delivery,number,machine,serial\na,url,1,b,2\n';
  const field = await importing(t, table, checked, fields);
  t.match(field.err, /the column serial is a field of the Site and no value/);
  const unused = await importing(t, 'site,delivery,number,machine,note\na,url,1,b,2\n', checked);
  t.equal(unused.code, 0, unused.err);
  t.match(unused.err, /column note is used nowhere/);
  // As a value, it would leave the volume unencrypted.
  const typo = await importing(t, 'site,delivery,number,machine,hostfacts\na,url,1,b,c\n', checked);
  t.equal(typo.code, 2);
  t.match(typo.err, /column hostfacts: did you mean hostFacts\?/);
});

t.test('what is beside the template and no manifest is named', async (t) => {
  const { code, err } = await importing(t, 'site,delivery,number,machine\na,url,1,CZ1\n', checked, {
    'extra-manifests': { 'a.yml~': '', 'quota.txt': 'kind: ResourceQuota\n' },
  });
  t.equal(code, 0, err);
  for (const name of ['a\\.yml~', 'quota\\.txt']) {
    t.match(
      err,
      new RegExp(`extra-manifests/${name} is not a manifest, and is not in the template`),
    );
  }
});

t.test('each row is judged as its node would', async (t) => {
  const table = 'site,delivery,number,machine\na,url,1,CZ1\nb,url,_,CZ2\nc,url,1,CZ3\n';
  const { code, err } = await importing(t, table, checked);
  t.equal(code, 2);
  t.match(err, /line 3 \(b\): .*\n.*cluster_name: expected a DNS label/);
  t.match(err, /line 4: the domain shop-1\.example\.com is that of line 2/);
});

t.test('templates that a ConfigMap cannot have', async (t) => {
  const table = 'site,delivery,number,machine\na,url,1,CZ1\n';
  const key = `-----BEGIN ${'PRIVATE'} KEY-----\nabc\n-----END ${'PRIVATE'} KEY-----\n`;
  const nested = { 'extra-manifests': { deep: { 'a.yaml': 'kind: A\n' }, 'b.yaml': key } };
  const { code, err } = await importing(t, table, checked, nested);
  t.equal(code, 2);
  t.match(err, /extra-manifests\/deep\/a\.yaml: expected no folders/);
  t.match(err, /extra-manifests\/b\.yaml: expected nothing secret/);
});

t.test('options that do not fit', async (t) => {
  for (const more of [
    ['--action', 'update'],
    ['--update-url', 'https://example.com'],
    ['--namespace', 'A/b'],
    ['--secrets', 'a,,b'],
    ['--secrets', '../a'],
    ['--action', 'destroy'],
  ]) {
    const { code, out } = await importing(t, 'site,delivery\na,url\n', more);
    t.equal(code, 2, more.join(' '));
    t.equal(out, '');
  }
  const update = ['--update-url', 'https://example.com/u', '--update-serial', '1764414509'];
  const { out } = await importing(t, 'site\na\n', ['--action', 'update', ...update, '--json']);
  t.match(JSON.parse(out), {
    items: [
      {
        spec: {
          action: 'update',
          update: { url: 'https://example.com/u', serial: 1_764_414_509 },
        },
      },
    ],
  });
  const odd = ['--update-url', 'https://u:p@example.com/u', '--update-serial', '1'];
  t.equal((await importing(t, 'site\na\n', ['--action', 'update', ...odd])).code, 2);
});
