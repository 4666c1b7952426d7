import t from 'tap';
import { stringify } from 'yaml';
import { etcdMemberOf } from '../../../../lib/render/openshift/etcd-member.ts';
import { canHash, etcdutlIn } from '../../../../lib/render/openshift/etcdutl.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { FakePodman } from './fake-podman.ts';

const pod = (script: string, env: Readonly<Record<string, string>>) =>
  stringify({
    kind: 'Pod',
    spec: {
      containers: [
        { name: 'etcdctl', image: 'other', env: [{ name: 'ETCD_NAME', value: 'not-this' }] },
        {
          name: 'etcd',
          image: 'registry.test/etcd@sha256:1',
          command: ['/bin/sh', '-c', script],
          env: Object.entries(env).map(([name, value]) => ({ name, value })),
        },
      ],
    },
  });
const PEER = 'https://192.0.2.10:2380';
const member = { name: 'etcd-edge-0', peerUrl: PEER, token: 'etcd-cluster' };
const image = 'registry.test/etcd@sha256:1';

const cases: [title: string, manifest: string, token?: string][] = [
  [
    'arguments in a script, as in 4.21',
    pod(`exec etcd \\\n  --logger=zap \\\n  --initial-advertise-peer-urls=${PEER} \\\n  --x=y\n`, {
      ETCD_NAME: 'etcd-edge-0',
    }),
  ],
  [
    'only the environment',
    pod('exec etcd', {
      ETCD_NAME: 'etcd-edge-0',
      ETCD_INITIAL_ADVERTISE_PEER_URLS: PEER,
      ETCD_INITIAL_CLUSTER_TOKEN: 'mine',
    }),
    'mine',
  ],
  [
    'an argument wins over the environment',
    pod(`etcd --name=etcd-edge-0 --initial-advertise-peer-urls "${PEER}"`, {
      ETCD_NAME: 'other',
      ETCD_INITIAL_ADVERTISE_PEER_URLS: 'https://198.51.100.1:2380',
    }),
  ],
];
for (const [title, manifest, token = member.token] of cases) {
  t.test(`the member of a rendered pod: ${title}`, async (t) => {
    t.same(etcdMemberOf(manifest), { ...member, token, image });
  });
}

const refused: [title: string, manifest: string, expected: RegExp][] = [
  ['no name', pod(`etcd --initial-advertise-peer-urls=${PEER}`, {}), /ETCD_NAME/],
  ['no URL', pod('etcd', { ETCD_NAME: 'e' }), /initial-advertise-peer-urls/],
  [
    'a URL of a shell variable',
    pod('etcd --initial-advertise-peer-urls=$URL', { ETCD_NAME: 'e' }),
    /URL/,
  ],
  ['no container etcd', 'kind: Pod\nspec: {containers: []}\n', /container etcd/],
];
for (const [title, manifest, expected] of refused) {
  t.test(`a pod that cannot be restored: ${title}`, async (t) => {
    const failure = await thrownBy((async () => etcdMemberOf(manifest))());
    t.match(failure, { kind: 'fatal', code: 'snapshot-unusable' });
    t.match(String(failure), expected);
  });
}

t.test('etcdutl runs in the image, without a network, with both folders', async (t) => {
  const podman = new FakePodman({});
  const run = etcdutlIn(podman, image, ['/var/lib/sno/restore/x.db', '/var/lib/etcd']);
  if (typeof run === 'string') throw new Error('a path');
  const limits = { signal: new AbortController().signal, deadlineMs: 1000 };
  await run(['snapshot', 'restore', 'x'], limits).catch(() => undefined);
  t.match(podman.runs, [
    {
      image,
      entrypoint: 'etcdutl',
      command: ['snapshot', 'restore', 'x'],
      network: 'none',
      volumes: ['/var/lib/sno/restore:/var/lib/sno/restore', '/var/lib:/var/lib'],
      unlabeled: true,
    },
  ]);
});

for (const [version, can] of [
  ['3.5.21', false],
  ['3.6.0', true],
  ['3.10.1', true],
  ['4.0.0', true],
] as const) {
  t.test(`etcdutl ${version} ${can ? 'hashes' : 'cannot hash'} a database`, async (t) => {
    t.equal(canHash(version), can);
  });
}
