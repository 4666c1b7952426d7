import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { parse } from 'yaml';
import { withProvidersOf } from '../../../../agents/steps/restore/encryption.ts';
import { restartedBy } from '../../../../agents/upkeep/rotate/pods.ts';
import { stageAuthorities } from '../../../../agents/upkeep/rotate/stage-authorities.ts';
import {
  stageEncryption,
  stageServiceAccount,
} from '../../../../agents/upkeep/rotate/stage-keys.ts';
import { certificatesIn, inspectCertificate, isIssuedBy } from '../../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../../lib/pki/keys.ts';
import {
  authorityNames,
  authorityPaths,
  laptopAdminCa,
} from '../../../../lib/render/kubernetes/authorities.ts';
import { encryptionConfigPath } from '../../../../lib/render/kubernetes/encryption.ts';
import { apiServerTrust } from '../../../../lib/render/kubernetes/kube-apiserver.ts';
import { issuedLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { serviceAccount } from '../../../../lib/render/kubernetes/service-account.ts';
import { byPath, textAt } from '../../render/rendered-host.ts';

const PHASES = ['trust-both', 'use-new', 'trust-new'] as const;
const read = async (path: string) => byPath.get(path)?.contents;
const staged = await stageAuthorities([...authorityNames], read, new Date());
const changed = new Map(
  PHASES.map((phase) => [
    phase,
    new Map(staged.phases[phase].map(({ path, contents }) => [path, contents])),
  ]),
);
const after = (phase: (typeof PHASES)[number], path: string) =>
  changed.get(phase)?.get(path) ?? textAt(path);

t.test('what each rotation restarts', async (t) => {
  const RESTARTS = {
    etcd: ['etcd', 'kube-apiserver'],
    serving: ['kube-controller-manager', 'kube-scheduler', 'kubelet'],
    'front-proxy': [],
    // Its certificates are read when it starts; containers keep running.
    'kubelet-client': ['kubelet'],
    'kubelet-serving': ['kube-apiserver', 'kubelet'],
    admin: [],
    'legacy-unknown': [],
  };
  const kubelet = (name: string) => `/var/lib/kubelet/pki/kubelet-${name}-current.pem`;
  const files = new Map([
    [kubelet('client'), textAt(issuedLeaves.apiServerKubeletClient.certificate)],
    [kubelet('server'), textAt(issuedLeaves.apiServerServing.certificate)],
  ]);
  for (const name of authorityNames) {
    const texts = async (path: string) => {
      const pem = files.get(path);
      return pem === undefined ? read(path) : `${pem}-----BEGIN PRIVATE KEY-----`;
    };
    const { phases } = await stageAuthorities([name], texts, new Date());
    const paths = PHASES.flatMap((phase) => phases[phase].map(({ path }) => path));
    t.same(restartedBy(paths), RESTARTS[name], name);
  }
});

t.test('nothing is staged with a clock with which an authority is not valid', async (t) => {
  await t.rejects(stageAuthorities(['etcd'], read, new Date(0)), { message: /not valid yet/ });
});

t.test('a leaf has a new key, the same names, and the new authority', async (t) => {
  for (const { name, certificate, key, authority } of Object.values(issuedLeaves)) {
    if (name === 'bootstrap-admin' || name === 'csr-approver') {
      t.equal(after('use-new', certificate), textAt(certificate), 'deleted after the installation');
      continue;
    }
    const pem = after('use-new', certificate);
    const [old, fresh] = [inspectCertificate(textAt(certificate)), inspectCertificate(pem)];
    for (const field of [
      'subject',
      'dnsNames',
      'ipAddresses',
      'clientAuth',
      'serverAuth',
    ] as const) {
      t.same(fresh[field], old[field], `${name}: ${field}`);
    }
    t.not(publicKeyFingerprint(pem), publicKeyFingerprint(textAt(certificate)), name);
    t.equal(publicKeyFingerprint(after('use-new', key)), publicKeyFingerprint(pem), name);
    const ca = authorityPaths(authority);
    t.ok(await isIssuedBy(pem, after('use-new', ca.certificate)), name);
    t.ok(
      new X509Certificate(pem).subjectAltName ===
        new X509Certificate(textAt(certificate)).subjectAltName,
    );
    // Behind that of the API server also the one by which the first kubeconfig knows the old authority.
    const presented = name === 'kube-apiserver-serving' ? 3 : fresh.serverAuth ? 2 : 1;
    t.equal(certificatesIn(pem).length, presented, `${name}: what is presented`);
    const [, cross] = certificatesIn(pem);
    if (cross === undefined) continue;
    t.ok(await isIssuedBy(cross, textAt(ca.certificate)), `${name}: by the old authority`);
    t.ok(await isIssuedBy(pem, cross), `${name}: the chain`);
    t.match(new X509Certificate(cross), { ca: true });
  }
});

t.test('the old identities of clients whose servers answer are to be refused', async (t) => {
  const leaves = Object.values(issuedLeaves);
  for (const { name, certificate, key } of staged.retired) {
    const leaf = leaves.find((each) => each.name === name);
    t.same([certificate, key], [textAt(leaf?.certificate ?? ''), textAt(leaf?.key ?? '')], name);
  }
  t.same(
    staged.retired.map(({ name }) => name),
    [
      ...['kube-apiserver-kubelet-client', 'front-proxy-client', 'kube-controller-manager'],
      ...['kube-scheduler', 'deferred'],
    ],
  );
});

t.test("the laptop's CA is trusted until the administrators' CA is replaced", async (t) => {
  const trusts = async (name: 'admin' | 'kubelet-client', from = read) => {
    const { phases } = await stageAuthorities([name], from, new Date());
    const all = PHASES.flatMap((phase) => phases[phase]);
    const laptop = textAt(laptopAdminCa);
    const holders = all.filter(({ contents }) => contents.includes(laptop));
    t.ok(
      holders.every(({ path }) => path === apiServerTrust.clients),
      'the API server only',
    );
    const texts = [phases['trust-both'], phases['trust-new']].map(
      (changes) => changes.find(({ path }) => path === apiServerTrust.clients)?.contents ?? '',
    );
    return texts.map((text) => [certificatesIn(text).length, text.endsWith(laptop)]);
  };
  t.same(await trusts('kubelet-client'), [
    [4, true],
    [3, true],
  ]);
  t.same(await trusts('admin'), [
    [4, true],
    [2, false],
  ]);
  const without = async (path: string) => (path === laptopAdminCa ? undefined : read(path));
  t.same(await trusts('kubelet-client', without), [
    [3, false],
    [2, false],
  ]);
});

t.test('keys are secret, and the signers are written after their leaves', async (t) => {
  const { phases } = staged;
  const all = [staged, await stageServiceAccount(read), await stageEncryption(read)];
  for (const each of all.flatMap(({ phases }) => PHASES.flatMap((phase) => phases[phase]))) {
    const isSecret = /PRIVATE|secretbox/.test(each.contents);
    t.equal(each.mode, isSecret ? 0o600 : 0o644, each.path);
  }
  const paths = phases['use-new'].map(({ path }) => path);
  const signers = authorityNames.flatMap((name) => {
    const { key, certificate } = authorityPaths(name);
    return [key, certificate];
  });
  t.same(paths.slice(-signers.length), signers);
});

t.test('the service account key: verified before it signs', async (t) => {
  const { phases } = await stageServiceAccount(read);
  const { privateKey, publicKey } = serviceAccount;
  const of = (phase: (typeof PHASES)[number]) =>
    Object.fromEntries(phases[phase].map(({ path, contents }) => [path, contents]));
  const next = of('trust-new')[publicKey] ?? '';
  t.same(of('trust-both'), { [publicKey]: `${textAt(publicKey)}${next}` });
  t.equal(publicKeyFingerprint(of('use-new')[privateKey] ?? ''), publicKeyFingerprint(next));
  t.not(next, textAt(publicKey));
});

t.test('the encryption key: second, first, only one', async (t) => {
  const keysIn = (text: string) =>
    parse(text).resources[0].providers[0].secretbox.keys.map(({ name }: { name: string }) => name);
  const { phases } = await stageEncryption(read);
  t.same(
    PHASES.map((phase) => keysIn(phases[phase][0]?.contents ?? '')),
    [['key1', 'key2'], ['key2', 'key1'], ['key2']],
  );
  const { resources, ...rest } = parse(phases['trust-new'][0]?.contents ?? '');
  const { resources: old, ...oldRest } = parse(textAt(encryptionConfigPath));
  t.same(rest, oldRest);
  t.same(resources[0].resources, old[0].resources);
  const [{ secret }] = resources[0].providers[0].secretbox.keys;
  t.not(secret, old[0].providers[0].secretbox.keys[0].secret);
  t.equal(Buffer.from(secret, 'base64').length, 32, 'the API server takes no other length');
});

t.test('a configuration whose objects would be lost with the old key is not changed', async (t) => {
  const cases = {
    'plain texts': { providers: [{ identity: {} }] },
    'other objects, too': { resources: ['secrets', 'configmaps'] },
    'other objects': { resources: ['configmaps'] },
    'no key': { providers: [{ secretbox: { keys: [] } }] },
  };
  for (const [what, entry] of Object.entries(cases)) {
    const { resources, ...rest } = parse(textAt(encryptionConfigPath));
    const text = JSON.stringify({ ...rest, resources: [{ ...resources[0], ...entry }] });
    const refused = { kind: 'fatal', message: /encryption.yaml cannot be changed.*Secrets alone/ };
    await t.rejects(
      stageEncryption(async () => text),
      refused,
      what,
    );
  }
});

t.test('the encryption key after a restore that added the one of the backup', async (t) => {
  const present = textAt(encryptionConfigPath);
  const saved = parse(present);
  saved.resources[0].providers[0].secretbox.keys = [
    { name: 'key1', secret: 'of the backup' },
    { name: 'key7', secret: 'older' },
  ];
  const restored = withProvidersOf(present, JSON.stringify(saved)) ?? '';
  const { phases } = await stageEncryption(async () => restored);
  const providers = PHASES.map((phase) =>
    parse(phases[phase][0]?.contents ?? '').resources[0].providers.map(
      ({ secretbox }: { secretbox: { keys: { name: string }[] } }) =>
        secretbox.keys.map(({ name }) => name),
    ),
  );
  t.same(providers, [
    [
      ['key1', 'key8'],
      ['key1', 'key7'],
    ],
    [
      ['key8', 'key1'],
      ['key1', 'key7'],
    ],
    [['key8']],
  ]);
  t.match(phases['use-new'][0]?.contents, /of the backup/);
});
