/** How the phases of a rotation of keys are verified, by an API server that is asked with the rights of the moment. */
import t, { type Test } from 'tap';
import { type Staged, saveStaged } from '../../../../agents/steps/certificates/changes.ts';
import { rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { trustBoth, trustNew, useNew } from '../../../../agents/upkeep/rotate/phases.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { requestRotation, type What } from '../../../../lib/change/rotation/request.ts';
import { readKubeconfig } from '../../../../lib/clients/kube/kubeconfig.ts';
import type { HostEndpoints } from '../../../../lib/host/paths.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { encryptionConfigPath } from '../../../../lib/render/kubernetes/encryption.ts';
import { apiServerTrust } from '../../../../lib/render/kubernetes/kube-apiserver.ts';
import { issuedLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { servingAuthority } from '../../gather/cluster/serve-api.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, refuse } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';

const SECRETS = '/api/v1/secrets';
const SECRET = '/api/v1/namespaces/shop/secrets';
const TOKEN = 'POST /api/v1/namespaces/kube-system/serviceaccounts/default/token';
const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const PUBLISHED = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const REVIEW = 'POST /apis/authentication.k8s.io/v1/tokenreviews';
const own = await createAuthority('admin-ca');

/** A host on which a rotation has staged one change, of the file with the keys for Secrets. */
async function phasesOn(
  t: Test,
  what: What,
  answers: Readonly<Record<string, ApiAnswer>>,
  retired: Staged['retired'] = [],
) {
  const endpoints: { -readonly [Name in keyof HostEndpoints]: HostEndpoints[Name] } = {};
  const host = testHost(t, { endpoints });
  const { requests } = await fakeApi(t, host, answers);
  endpoints.api = (await readKubeconfig(host.at(kubeconfigs.csrApprover))).server.href;
  const { gather } = accessTo('kubernetes');
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', JSON.stringify({ renewProofMs: 1500 }));
  host.write(gather.ca, servingAuthority);
  host.write(gather.signer.certificate, own.certificate);
  host.write(gather.signer.key, own.key, 0o600);
  host.write(encryptionConfigPath, 'old', 0o600);
  await requestRotation(host.paths, { what, restartWorkloads: false });
  const context = await rotateContext(host.paths);
  const changes = [{ path: encryptionConfigPath, contents: 'new', mode: 0o600 }];
  const phases = { 'trust-both': changes, 'use-new': changes, 'trust-new': changes };
  await saveStaged(host.paths, { schemaVersion: 1, id: context.request.id, phases, retired });
  return {
    ...{ host, requests },
    run: (step: typeof useNew) => step.run(context, host.progress()),
    holds: (step: typeof useNew) => step.holds(context, host.progress()),
  };
}

const encryption: What = { kind: 'encryption' };
const tokens: What = { kind: 'service-account' };

t.test('every Secret is stored again with the new key, by page, and none is read', async (t) => {
  const asked: object[] = [];
  const { host, requests, run, holds } = await phasesOn(t, encryption, {
    [`GET ${SECRETS}`]: ({ query, headers }) => {
      asked.push({ query: Object.fromEntries(query), accept: headers.accept });
      const isLast = query.has('continue');
      const metadata = { name: isLast ? 'b' : 'a', namespace: 'shop' };
      return { metadata: { continue: isLast ? '' : 'more' }, items: [{ metadata }] };
    },
    [`PATCH ${SECRET}/a`]: ({ headers, body }) => {
      asked.push({ body, accept: headers.accept, type: headers['content-type'] });
      return {};
    },
    [`PATCH ${SECRET}/b`]: () => refuse(404, 'not found', 'NotFound'),
  });
  // Not changed by this rotation: none of its servers is asked about it.
  host.write(issuedLeaves.scheduler.certificate, own.certificate);
  t.equal(await holds(useNew), false);
  t.same(await run(useNew), { kind: 'done', note: 'no restart' });
  t.notMatch(host.lines.join(''), /certificate of/);
  t.equal(await holds(useNew), true);
  t.equal(host.read(encryptionConfigPath), 'new');
  const list = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
  t.same(asked, [
    { query: { limit: '500' }, accept: list },
    { query: { limit: '500', continue: 'more' }, accept: list },
    {
      ...{ body: '{}', type: 'application/merge-patch+json' },
      accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    },
  ]);
  t.match(host.lines.join(''), /Encrypted 2 Secrets with the new key/);
  requests.length = 0;
  await run(trustNew);
  t.same(requests, [`GET ${SECRETS}`, `GET ${SECRETS}`], 'and can be read at the end');
  t.match(host.lines.join(''), /2 Secrets are readable/);
});

t.test('what has been deleted since it was staged is not proven', async (t) => {
  const { host, requests, run } = await phasesOn(t, { kind: 'authorities', names: ['etcd'] }, {});
  host.programs.give('systemctl', 'echo ActiveState=inactive');
  const { request } = await rotateContext(host.paths);
  const { certificate, key } = issuedLeaves.deferred;
  const staged = [certificate, key].map((path) => ({ path, contents: 'new', mode: 0o600 }));
  const phases = { 'trust-both': [], 'use-new': staged, 'trust-new': [] };
  await saveStaged(host.paths, { schemaVersion: 1, id: request.id, phases, retired: [] });
  t.same(await run(useNew), { kind: 'done', note: 'no restart' });
  t.same(requests, []);
});

t.test('a key that does not read every Secret is taken back', async (t) => {
  const answers = { [`GET ${SECRETS}`]: () => refuse(422, 'no key') };
  for (const step of [useNew, trustNew]) {
    const { host, run, holds } = await phasesOn(t, encryption, answers);
    await t.rejects(run(step), {
      code: 'rotation-rolled-back',
      cause: { message: /no key/ },
    });
    t.equal(host.read(encryptionConfigPath), 'old');
    t.equal(await holds(step), false);
  }
});

t.test('a token that the API server has signed is accepted, sooner or later', async (t) => {
  for (const step of [useNew, trustNew]) {
    const bodies: unknown[] = [];
    const { requests, run } = await phasesOn(t, tokens, {
      [TOKEN]: ({ body }) => {
        bodies.push(JSON.parse(body));
        return { status: { token: 'signed' } };
      },
      [REVIEW]: ({ body }) => {
        bodies.push(JSON.parse(body));
        return { status: { authenticated: bodies.length > 2 } };
      },
    });
    t.same(await run(step), { kind: 'done', note: 'no restart' });
    t.same(requests, [TOKEN, REVIEW, TOKEN, REVIEW], step.name);
    t.same(bodies.slice(0, 2), [
      { spec: {} },
      {
        ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' },
        spec: { token: 'signed' },
      },
    ]);
  }
});

t.test('a key whose tokens are not accepted is taken back', async (t) => {
  for (const status of [{ authenticated: false }, {}]) {
    const { host, run } = await phasesOn(t, tokens, {
      [TOKEN]: () => ({ status: { token: 'signed' } }),
      [REVIEW]: () => ({ status }),
    });
    await t.rejects(run(useNew), {
      code: 'rotation-rolled-back',
      cause: {
        kind: 'deadline',
        message: /waited in vain for a new token to be accepted/,
        cause: { kind: 'retry', message: /does not accept a token that it has signed/ },
      },
    });
    t.equal(host.read(encryptionConfigPath), 'old');
  }
});

t.test('before a key is used, nobody is asked', async (t) => {
  for (const what of [encryption, tokens]) {
    const { requests, run } = await phasesOn(t, what, {});
    await run(trustBoth);
    t.same(requests, []);
  }
});

t.test('a new certificate is tried before it is used, where a server tells', async (t) => {
  const { name, subject, certificate, key } = issuedLeaves.scheduler;
  const fresh = await issueLeaf(own, { subject, usage: 'client' });
  let asked = 0;
  const { requests, host, run } = await phasesOn(
    t,
    { kind: 'authorities', names: ['admin'] },
    {
      [`POST ${SELF}`]: () => {
        asked += 1;
        if (asked === 1) return refuse(401, 'unknown authority', 'Unauthorized');
        return { status: { userInfo: { username: subject.commonName } } };
      },
    },
  );
  const { request } = await rotateContext(host.paths);
  const useNew = [
    { path: key, contents: fresh.key, mode: 0o600 },
    { path: certificate, contents: fresh.certificate, mode: 0o644 },
    // Not of one that is retired: etcd does not answer whom it does not trust.
    { path: issuedLeaves.etcdPeer.certificate, contents: fresh.certificate, mode: 0o644 },
  ];
  const retired = [{ name, certificate: 'old', key: 'old' }];
  const phases = { 'trust-both': [], 'use-new': useNew, 'trust-new': [] };
  await saveStaged(host.paths, { schemaVersion: 1, id: request.id, phases, retired });
  host.write(authorityPaths('serving').certificate, servingAuthority);
  t.same(await run(trustBoth), { kind: 'done', note: 'no restart' });
  t.same(requests, [`POST ${SELF}`, `POST ${SELF}`]);
  t.notOk(host.has(certificate), 'what is on the disk is not asked about');
});

t.test('an old certificate is tried, until the server that it was for refuses it', async (t) => {
  const { name, subject } = issuedLeaves.scheduler;
  const old = await issueLeaf(own, { subject, usage: 'client' });
  const table: [what: What, before: string[], after: string[]][] = [
    [encryption, [`GET ${SECRETS}`], []],
    // Others learn from it whom to trust: not before the API server itself refuses the old one. It fails once.
    [
      { kind: 'authorities', names: ['etcd'] },
      [],
      [`GET ${PUBLISHED}`, `PUT ${PUBLISHED}`, `GET ${PUBLISHED}`, `PUT ${PUBLISHED}`],
    ],
  ];
  for (const [what, before, after] of table) {
    let accepted = 0;
    let written = 0;
    const published = { metadata: { name: 'x', namespace: 'kube-system' }, data: {} };
    const answers: Record<string, ApiAnswer> = {
      [`GET ${SECRETS}`]: () => ({ metadata: {}, items: [] }),
      [`GET ${PUBLISHED}`]: () => published,
      [`PUT ${PUBLISHED}`]: () => {
        written += 1;
        return written === 1 ? refuse(409, 'changed by another', 'Conflict') : published;
      },
      [`POST ${SELF}`]: () => {
        accepted += 1;
        if (accepted > 1) return refuse(401, 'unknown authority', 'Unauthorized');
        return { status: { userInfo: { username: subject.commonName } } };
      },
    };
    const { requests, host, run } = await phasesOn(t, what, answers, [{ name, ...old }]);
    for (const path of [authorityPaths('serving').certificate, ...Object.values(apiServerTrust)])
      host.write(path, servingAuthority);
    t.same(await run(trustNew), { kind: 'done', note: 'no restart' });
    t.same(requests, [...before, `POST ${SELF}`, `POST ${SELF}`, ...after]);
  }
});
