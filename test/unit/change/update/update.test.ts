/** Which updates a host takes: tables of versions, architectures and manifests. */
import t from 'tap';
import { sshPublicKey } from '../../../../lab/site-inputs.ts';
import {
  type InstalledVersions,
  isInstalledUpdate,
  refuseFor,
  updateFaults,
} from '../../../../lib/change/update/judge.ts';
import {
  parseUpdate,
  type UpdateManifest,
  updateText,
} from '../../../../lib/change/update/manifest.ts';
import { UPDATE_SIGNATURE } from '../../../../lib/change/update/signature.ts';
import { predecessors, skewFaults } from '../../../../lib/change/update/successor.ts';
import { allowedSigners, verifySignature } from '../../../../lib/pki/signature/ssh-signature.ts';

const installed: InstalledVersions = {
  architecture: 'amd64',
  executable: { version: '1.2.3+abc', sha256: 'a'.repeat(64) },
  payload: { versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' }, sha256: 'b'.repeat(64) },
};

const judge = (it: UpdateManifest, on: InstalledVersions = installed, now?: Date) =>
  refuseFor(updateFaults(it, on, now));

interface Versions {
  /** What the host runs, if not the payload of `installed`. */
  readonly from?: InstalledVersions['payload']['versions'];
  readonly architecture?: UpdateManifest['architecture'];
  readonly agents?: string;
  readonly kubernetes?: string;
  readonly etcd?: string;
  readonly serial?: number;
  readonly expires?: string;
}

const update = ({
  architecture = 'amd64',
  agents = '1.2.4',
  kubernetes = 'v1.34.5',
  etcd = 'v3.6.9',
  from: _,
  ...order
}: Versions = {}): UpdateManifest => ({
  apiVersion: 'sno-agents/v1',
  kind: 'Update',
  ...order,
  architecture,
  executable: { version: agents, size: 10, sha256: 'c'.repeat(64) },
  payload: { versions: { kubernetes, etcd }, size: 20, sha256: 'd'.repeat(64) },
});

const V36 = { kubernetes: 'v1.37.2', etcd: 'v3.6.11' };

const TAKEN: readonly (readonly [why: string, versions: Versions])[] = [
  ['newer patch releases', {}],
  [
    'the same versions, built again',
    { agents: '1.2.3+def', kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
  ],
  ['a newer minor release of the agents', { agents: '1.3.0' }],
  ['a newer major release of the agents', { agents: '2.0.0' }],
  ['a version with two digits', { kubernetes: 'v1.34.10' }],
  ['the next minor version', { kubernetes: 'v1.35.0', etcd: 'v3.6.8' }],
  ['a patch release of the other part meanwhile', { kubernetes: 'v1.35.4', etcd: 'v3.6.16' }],
  ['the next minor version of etcd', { from: V36, kubernetes: V36.kubernetes, etcd: 'v3.7.3' }],
  [
    'the next minor version of etcd with a patch release',
    { from: V36, kubernetes: 'v1.37.3', etcd: 'v3.7.0' },
  ],
];

const REFUSED: readonly (readonly [why: string, versions: Versions, found: RegExp])[] = [
  ['another architecture', { architecture: 'arm64' }, /it is for arm64, and this host is amd64/],
  ['older agents', { agents: '1.2.2' }, /sno-agents 1\.2\.2 is older than 1\.2\.3/],
  ['agents of an older minor release', { agents: '1.1.9' }, /older/],
  ['agents of an older major release', { agents: '0.9.9' }, /older/],
  [
    'an older payload',
    { kubernetes: 'v1.34.3' },
    /Kubernetes v1\.34\.3 is older.*Use Kubernetes v1\.34\.4/,
  ],
  ['an older etcd', { etcd: 'v3.6.7' }, /etcd v3\.6\.7 is older/],
  [
    'the minor version after the next',
    { kubernetes: 'v1.36.0' },
    /Kubernetes v1\.36\.0 is 2 minor versions newer than v1\.34\.4.*Take Kubernetes 1\.35 first/,
  ],
  [
    'three at once',
    { kubernetes: 'v1.37.2' },
    /3 minor versions newer.*Take Kubernetes 1\.35 first/,
  ],
  ['the minor version before', { kubernetes: 'v1.33.9' }, /v1\.33\.9 is older/],
  ['another major version', { kubernetes: 'v2.34.4' }, /another major version.*1\.34 or 1\.35/],
  ['an older major version', { kubernetes: 'v0.99.0' }, /older/],
  [
    'etcd 3.7 from an early 3.6',
    { kubernetes: 'v1.34.4', etcd: 'v3.7.3' },
    /etcd v3\.7\.3 must not follow v3\.6\.8.*Take etcd 3\.6\.11 or a later 3\.6 first/,
  ],
  [
    'etcd 3.7 from a pre-release',
    { from: { ...V36, etcd: 'v3.6.11-rc.0' }, kubernetes: V36.kubernetes, etcd: 'v3.7.3' },
    /must not follow/,
  ],
  [
    'etcd 3.8 from 3.6',
    { from: V36, kubernetes: V36.kubernetes, etcd: 'v3.8.0' },
    /Take etcd 3\.7 first/,
  ],
  ['an older minor version of etcd', { etcd: 'v3.5.99' }, /etcd v3\.5\.99 is older/],
  [
    'both minor versions at once',
    { from: { kubernetes: 'v1.36.3', etcd: 'v3.6.16' }, kubernetes: 'v1.37.2', etcd: 'v3.7.3' },
    /both of the next minor version.*Take Kubernetes 1\.37 with etcd 3\.6 first, then etcd 3\.7/,
  ],
  ['a pre-release of what is installed', { agents: '1.2.3-rc.9' }, /1\.2\.3-rc\.9 is older/],
  ['a pre-release of the payload', { kubernetes: 'v1.34.4-rc.0' }, /v1\.34\.4-rc\.0 is older/],
  ['a pre-release of etcd', { etcd: 'v3.6.8-beta' }, /v3\.6\.8-beta is older/],
  ['what has expired', { expires: '2026-01-01T00:00:00Z' }, /it has expired at 2026-01-01/],
  ['a version that is none', { agents: 'newest' }, /newest cannot be compared/],
];

const host = ({ from }: Versions): InstalledVersions =>
  from === undefined
    ? installed
    : { ...installed, payload: { ...installed.payload, versions: from } };

for (const [why, versions] of TAKEN) {
  t.test(`taken: ${why}`, async (t) => {
    t.same(updateFaults(update(versions), host(versions)), []);
  });
}

for (const [why, versions, found] of REFUSED) {
  t.test(`refused: ${why}`, async (t) => {
    t.throws(() => judge(update(versions), host(versions)), {
      kind: 'usage',
      code: 'update-refused',
      message: found,
    });
  });
}

t.test('what was signed before the update in use is not taken again', async (t) => {
  const judged = (serial: number | undefined, present: number | undefined) => () =>
    judge(update(serial === undefined ? {} : { serial }), {
      ...installed,
      serial: present,
    });
  t.doesNotThrow(judged(6, 5));
  t.doesNotThrow(judged(5, 5), 'the same again');
  t.doesNotThrow(judged(1, undefined));
  t.doesNotThrow(judged(undefined, undefined), 'of an earlier release');
  t.throws(judged(4, 5), { message: /its serial 4 is older than 5/ });
  t.throws(judged(undefined, 5), {
    message: /it has no serial, and this host has taken the serial 5/,
  });
});

t.test('an update is taken until it expires', async (t) => {
  const expiring = update({ expires: '2027-01-01T00:00:00Z' });
  const at = (time: string) => () => judge(expiring, installed, new Date(time));
  t.doesNotThrow(at('2026-12-31T23:59:59Z'));
  t.throws(at('2027-01-01T00:00:00Z'), { message: /expired at 2027-01-01T00:00:00Z, and it is/ });
});

t.test('every reason is named at once', async (t) => {
  t.throws(
    () =>
      judge(
        update({ architecture: 'arm64', agents: '1.0.0', kubernetes: 'v1.36.0', etcd: 'v4.0.0' }),
      ),
    {
      message: /arm64.*; sno-agents 1\.0\.0.*; Kubernetes v1\.36.*; etcd v4.*Take Kubernetes 1\.35/,
    },
  );
});

const worker = (kubelet: string) => ({ name: 'edge-1', kubelet });
const SKEWS: readonly (readonly [kubelet: string, kubernetes: string, found?: RegExp])[] = [
  ['v1.37.2', 'v1.37.2'],
  ['v1.37.9', 'v1.37.2'],
  ['v1.34.0', 'v1.37.2'],
  ['v1.33.9', 'v1.37.2', /edge-1 has the kubelet v1\.33\.9, more than 3 minor versions older than/],
  ['v1.38.0', 'v1.37.2', /newer than Kubernetes v1\.37\.2/],
  ['v2.37.0', 'v1.37.2', /cannot be compared/],
  ['', 'v1.37.2', /cannot be compared/],
  ['v1.37.2', 'unknown'],
];
t.test('which kubelets of workers go with a new API server', async (t) => {
  for (const [kubelet, kubernetes, found] of SKEWS) {
    const faults = skewFaults(kubernetes, [worker(kubelet)]);
    const name = `${kubelet} with ${kubernetes}`;
    if (found === undefined) t.same(faults, [], name);
    else t.match(faults, [{ found, fix: /edge-1/ }], name);
  }
});

t.test('a worker takes what is not older, however many minor versions it skips', async (t) => {
  const on: InstalledVersions = { ...installed, isWorker: true };
  t.doesNotThrow(() => judge(update({ kubernetes: 'v1.37.2', etcd: 'v3.7.3' }), on));
  t.doesNotThrow(() => judge(update({ kubernetes: 'v1.34.4', etcd: 'v3.5.0' }), on), 'it has none');
  for (const [kubernetes, found] of [
    ['v1.34.3', /Kubernetes v1\.34\.3 is older than v1\.34\.4/],
    ['v1.33.9', /is older than/],
    ['unknown', /Kubernetes unknown cannot be compared/],
  ] as const) {
    t.throws(() => judge(update({ kubernetes }), on), { message: found }, kubernetes);
  }
  t.throws(() => judge(update({ agents: '1.0.0' }), on), {
    message: /sno-agents 1\.0\.0 is older/,
  });
  const both = { kubernetes: 'also unknown', etcd: 'v3.6.8' };
  const unknown = { ...on, payload: { ...on.payload, versions: both } };
  t.throws(() => judge(update({ kubernetes: 'unknown' }), unknown), {
    message: /Kubernetes unknown cannot/,
  });
});

t.test('a host that still emulates ends that first', async (t) => {
  const still = { ...installed, emulates: '1.33' };
  const next = update({ kubernetes: 'v1.35.0', etcd: 'v3.6.8' });
  t.throws(() => judge(next, still), {
    message: /still emulates Kubernetes 1\.33.*Run an update of Kubernetes 1\.34 first/,
  });
  t.doesNotThrow(() => judge(update(), still), 'a patch release does it too');
  const same = update({ agents: '1.2.3', kubernetes: 'v1.34.4', etcd: 'v3.6.8' });
  const runs = {
    ...still,
    executable: { ...installed.executable, sha256: same.executable.sha256 },
    payload: { ...installed.payload, sha256: same.payload.sha256 },
  };
  t.notOk(isInstalledUpdate(same, runs), 'and so does the same update');
});

t.test('people read which hosts take it', async (t) => {
  t.equal(
    predecessors({ kubernetes: 'v1.36.3', etcd: 'v3.6.16' }),
    'Kubernetes 1.35 or 1.36, etcd 3.5 or later, of which only one may change its minor version',
  );
  t.match(predecessors({ kubernetes: 'v1.37.2', etcd: 'v3.7.3' }), /etcd 3\.6\.11 or later/);
});

t.test('what the host runs is known by its digests', async (t) => {
  const same = update();
  const runs = {
    ...installed,
    executable: { ...installed.executable, sha256: same.executable.sha256 },
    payload: { ...installed.payload, sha256: same.payload.sha256 },
  };
  t.ok(isInstalledUpdate(same, runs));
  t.notOk(isInstalledUpdate(same, { ...runs, payload: installed.payload }));
  t.notOk(isInstalledUpdate(same, { ...runs, executable: installed.executable }));
});

t.test('a manifest is read as it is written', async (t) => {
  t.same(parseUpdate(updateText(update()), 'update.json'), update());
});

const wrong = (change: object) => JSON.stringify({ ...update(), ...change });
const BAD: readonly (readonly [why: string, text: string])[] = [
  ['not JSON', '{'],
  ['another kind', wrong({ kind: 'Payload' })],
  ['an unknown field', wrong({ run: 'rm -rf /' })],
  ['an unknown architecture', wrong({ architecture: 's390x' })],
  ['no payload', wrong({ payload: undefined })],
  [
    'a digest in upper case',
    wrong({ executable: { version: '1.2.3', size: 1, sha256: 'A'.repeat(64) } }),
  ],
  ['a size that is none', wrong({ executable: { ...update().executable, size: -1 } })],
  ['another Kubernetes', updateText(update({ kubernetes: 'newest' }))],
  ['another etcd', updateText(update({ etcd: 'newest' }))],
  ['a serial that is none', updateText(update({ serial: 0 }))],
  ['a version that is none', wrong({ executable: { ...update().executable, version: 'new' } })],
];
for (const [why, text] of BAD) {
  t.test(`no manifest: ${why}`, async (t) => {
    t.throws(() => parseUpdate(text, '/mnt/update.json'), {
      kind: 'usage',
      message: /^\/mnt\/update\.json is not the manifest of an update/,
    });
  });
}

t.test('keys that may log in may sign updates, and nothing else', async (t) => {
  const key = sshPublicKey().split(' ').slice(0, 2).join(' ');
  const line = `sno-update namespaces="sno-agents-update" ${key}\n`;
  t.equal(allowedSigners([`${key} me@laptop`], UPDATE_SIGNATURE), line);
  for (const options of [
    'from="10.0.0.0/8",no-pty',
    'command="echo ssh-rsa is old"',
    'expiry-time="20200101"',
    'restrict',
    'no-touch-required',
    'FROM="10.0.0.0/8"',
    `command="echo ${key}"`,
  ]) {
    t.equal(allowedSigners([`${options} ${key} me`], UPDATE_SIGNATURE), '', options);
    t.equal(allowedSigners([`${options} ${key}`, key], UPDATE_SIGNATURE), line, 'but others do');
  }
  t.equal(allowedSigners(['ssh-ed25519 AAAA torn'], UPDATE_SIGNATURE), '', 'not a torn one');
  t.equal(allowedSigners([`cert-authority ${key} ca`], UPDATE_SIGNATURE), '', 'not an authority');
  t.equal(allowedSigners([], UPDATE_SIGNATURE), '');
});

t.test('where no key may sign, a refusal says what of', async (t) => {
  const signed = { text: '', signature: '' };
  const { signal } = new AbortController();
  await t.rejects(verifySignature(signed, '', UPDATE_SIGNATURE, t.testdir(), signal), {
    code: 'update-refused',
    message: /no key is known that may sign updates.*allowed_signers/,
  });
});
