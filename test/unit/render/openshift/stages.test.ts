import t from 'tap';
import type { Minor } from '../../../../lib/base/minor.ts';
import { commandOf } from '../../../../lib/render/openshift/command.ts';
import { dependencies, longestChainFirst } from '../../../../lib/render/openshift/graph.ts';
import { stagesIn } from '../../../../lib/render/openshift/stage.ts';
import { INSTALLER_FILES } from '../../../../lib/render/openshift/stages/inputs.ts';
import { STAGES } from '../../../../lib/render/openshift/stages.ts';
import { argumentsOf419 } from './arguments-4.19.ts';
import { release } from './release.ts';

const versions: readonly Minor[] = [
  ...(['4.14', '4.15', '4.16', '4.17', '4.18'] as const),
  ...(['4.19', '4.20', '4.21', '4.22'] as const),
];

const namesIn = (version: Minor) => stagesIn(version, STAGES).map(({ name }) => name);

const argumentsIn = (version: Minor) =>
  stagesIn(version, STAGES).flatMap((stage) =>
    commandOf(stage, release(`${version}.0`), () => false).map(
      (argument) => `${stage.name} ${argument}`,
    ),
  );

for (const version of versions) {
  t.test(
    `${version}: something makes what each stage needs, and no stage waits for a later one`,
    async (t) => {
      const stages = stagesIn(version, STAGES);
      const found = dependencies(stages, INSTALLER_FILES);
      t.same([...found.keys()], namesIn(version));
      // Its certificates are those with which the API server reaches etcd.
      t.ok(found.get('kube-apiserver-bootstrap')?.has('etcd-bootstrap'));
      const completes = version === '4.14' ? 'config-bootstrap' : 'api-bootstrap';
      for (const name of ['kube-apiserver', 'kube-controller-manager', 'mco', 'node-tuning']) {
        t.ok(found.get(`${name}-bootstrap`)?.has(completes), `${name} needs the feature gate`);
      }
      // Otherwise it would all be one chain.
      for (const name of ['etcd-bootstrap', 'kube-scheduler-bootstrap', 'cco-bootstrap']) {
        t.equal(found.get(name)?.size, 0, name);
      }
      t.notOk(found.get('kube-controller-manager-bootstrap')?.has('kube-apiserver-bootstrap'));
    },
  );

  t.test(`${version}: every placeholder has a value`, async (t) => {
    t.notMatch(argumentsIn(version).join('\n'), /[{}]/);
  });
}

t.test('the arguments of 4.19', async (t) => {
  const found = stagesIn('4.19', STAGES).map(({ name, command }) => [
    name,
    command.map(({ argument, ifPresent }) =>
      ifPresent === undefined ? argument : `${argument} if ${ifPresent}`,
    ),
  ]);
  t.same(Object.fromEntries(found), argumentsOf419);
});

t.test('images, users and what tuning gets', async (t) => {
  const stages = stagesIn('4.21', STAGES);
  t.same(
    stages.filter(({ user }) => user !== undefined).map(({ name, user }) => [name, user]),
    [
      ['mco-bootstrap', 'root'],
      ['cco-bootstrap', 'root'],
    ],
  );
  t.same(
    stages.map(({ image }) => image),
    [
      'cluster-config-api',
      'cluster-authentication-operator',
      'cluster-config-operator',
      'release',
      'cluster-etcd-operator',
      'cluster-kube-apiserver-operator',
      'cluster-kube-controller-manager-operator',
      'cluster-kube-scheduler-operator',
      'cluster-ingress-operator',
      'cluster-node-tuning-operator',
      'cluster-node-tuning-operator',
      'machine-config-operator',
      'cloud-credential-operator',
    ],
  );
  const [tuning] = stages.filter(({ hostFolders }) => hostFolders !== undefined);
  t.equal(tuning?.name, 'cmdbootline-nto-bootstrap');
  t.same(tuning?.environment, { CLUSTER_NODE_TUNED_BOOTSTRAP_SAFE_ENV: 'true' });
  // Whatever tuned writes to.
  t.same(tuning?.hostFolders?.toSorted(), [
    '/etc/kubernetes',
    '/etc/modprobe.d',
    '/etc/sysconfig',
    '/etc/sysctl.d',
    '/etc/systemd',
    '/etc/tuned',
    '/lib/modules',
    '/run',
    '/sys',
    '/usr/lib/tuned',
    '/var/lib/kubelet',
  ]);
});

/** Added and removed from the version before. */
const changes: Readonly<Record<string, { added: string[]; removed: string[] }>> = {
  '4.15': {
    added: [
      'api-bootstrap /usr/bin/render',
      'api-bootstrap --asset-output-dir=/assets/api-bootstrap',
      'api-bootstrap --rendered-manifest-dir=/assets/manifests',
      'api-bootstrap --cluster-profile=self-managed-high-availability',
      'api-bootstrap --payload-version=V',
      'config-bootstrap --skip-api-rendering',
    ],
    removed: [],
  },
  '4.16': {
    added: [
      'cmdbootline-nto-bootstrap render-bootcmd-mc',
      'cmdbootline-nto-bootstrap --asset-input-dir=/assets/manifests',
      'cmdbootline-nto-bootstrap --asset-output-dir=/assets/cmdbootline-nto-bootstrap',
      'cmdbootline-nto-bootstrap --mcp-name=master',
    ],
    removed: [],
  },
  '4.18': {
    added: [
      'cvo-bootstrap --feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml',
      'kube-apiserver-bootstrap --operand-kubernetes-version=1.34.1',
    ],
    removed: [],
  },
  '4.19': {
    added: [
      'auth-api-bootstrap render',
      'auth-api-bootstrap --asset-output-dir=/assets/auth-api-bootstrap/manifests',
      'auth-api-bootstrap --rendered-manifest-dir=/assets/manifests',
      'auth-api-bootstrap --cluster-profile=self-managed-high-availability',
      'auth-api-bootstrap --payload-version=V',
    ],
    removed: [],
  },
  '4.22': {
    added: ['cvo-bootstrap --cluster-version-manifest-path=/assets/manifests/cvo-overrides.yaml'],
    removed: [],
  },
};

t.test('what each version changed', async (t) => {
  const withoutVersion = (version: Minor) =>
    argumentsIn(version).map((each) => each.replaceAll(`${version}.0`, 'V'));
  for (const [at, version] of versions.entries()) {
    const before = versions[at - 1];
    if (before === undefined) continue;
    const [older, newer] = [withoutVersion(before), withoutVersion(version)];
    t.same(
      {
        added: newer.filter((each) => !older.includes(each)),
        removed: older.filter((each) => !newer.includes(each)),
      },
      changes[version] ?? { added: [], removed: [] },
      `from ${before} to ${version}`,
    );
  }
});

t.test('4.14: the config operator renders the CRDs', async (t) => {
  const copies = (version: Minor) =>
    stagesIn(version, STAGES)
      .find(({ name }) => name === 'config-bootstrap')
      ?.copies.map(({ from, shared }) => from ?? shared);
  t.same(copies('4.14'), [
    'config-bootstrap/manifests',
    'manifests/99_feature-gate.yaml',
    'config-bootstrap/cloud-provider-config-generated.yaml',
  ]);
  t.same(copies('4.15'), ['config-bootstrap/cloud-provider-config-generated.yaml']);
});

t.test('arguments for files that exist', async (t) => {
  const flagsWith = (file: string) =>
    stagesIn('4.21', STAGES).flatMap((stage) => {
      const without = commandOf(stage, release('4.21.0'), () => false);
      return commandOf(stage, release('4.21.0'), (path) => path === file).filter(
        (argument) => !without.includes(argument),
      );
    });
  t.same(flagsWith('manifests/cloud-provider-config.yaml'), [
    '--cloud-provider-config-input-file=/assets/manifests/cloud-provider-config.yaml',
    '--cloud-config-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml',
  ]);
  t.same(flagsWith('tls/cloud-ca-cert.pem'), [
    '--cloud-provider-ca-file=/assets/tls/cloud-ca-cert.pem',
  ]);
  t.same(flagsWith('manifests/openshift-lbconfig-custom-dns.yaml'), [
    '--cloud-lb-config-file=/assets/manifests/openshift-lbconfig-custom-dns.yaml',
  ]);
});

t.test('a table that is wrong', async (t) => {
  const stage = (name: string, needs: string[], makes: string[]) => ({ name, needs, makes });
  for (const [name, stages, message] of [
    ['nothing makes it', [stage('a', ['x'], [])], /nothing makes x, which a needs/],
    [
      'only the stage itself makes it',
      [stage('a', ['x'], ['x'])],
      /nothing makes x, which a needs/,
    ],
    [
      'a cycle',
      [stage('a', ['y'], ['x']), stage('b', ['x'], ['y'])],
      /a needs y of b, a later stage/,
    ],
    ['two make the same', [stage('a', [], ['x']), stage('b', [], ['x'])], /a and b make x/],
  ] as const) {
    t.throws(() => dependencies(stages, ['z']), { kind: 'bug', message }, name);
  }
});

t.test('what a stage uses indirectly', async (t) => {
  const found = dependencies(
    [
      { name: 'a', needs: ['f'], makes: ['f'] },
      { name: 'b', needs: ['f'], makes: ['g'] },
      { name: 'c', needs: ['g'], makes: [] },
      { name: 'd', needs: ['f'], makes: [] },
    ],
    ['f'],
  );
  t.same([...(found.get('a') ?? [])], []);
  t.same([...(found.get('c') ?? [])].toSorted(), ['a', 'b']);
  t.same([...(found.get('d') ?? [])], ['a']);
});

t.test('a release without an image that a stage names', async (t) => {
  const [etcd] = stagesIn('4.21', STAGES).filter(({ name }) => name === 'etcd-bootstrap');
  if (etcd === undefined) throw new Error('no stage etcd-bootstrap');
  const lacking = { ...release('4.21.0'), images: new Map<string, string>() };
  t.throws(() => commandOf(etcd, lacking, () => false), {
    kind: 'fatal',
    message: /has no image etcd; .*found version 4\.21\.0, 0 images/,
  });
  for (const placeholder of ['{what}', '{image}', '{imag:etcd}', '{}']) {
    const wrong = { name: 's', command: [{ argument: `--x=${placeholder}` }] };
    t.throws(
      () => commandOf(wrong, release('4.21.0'), () => false),
      { kind: 'bug', message: `the stage s has the unknown placeholder ${placeholder}` },
      placeholder,
    );
  }
});

t.test('the stages for which the longest chain waits start first', async (t) => {
  const stages = stagesIn('4.21', STAGES);
  const order = longestChainFirst(stages, dependencies(stages, INSTALLER_FILES));
  t.same(
    order.slice(0, 4).map(({ name }) => name),
    ['api-bootstrap', 'config-bootstrap', 'etcd-bootstrap', 'node-tuning-bootstrap'],
    'the API for two in a row; the others for one',
  );
  const rest = new Set(order.slice(4));
  t.same(
    order.slice(4),
    stages.filter((stage) => rest.has(stage)),
    'otherwise as in the table',
  );
});
