/** `sno fleet site --phase deliver` against a real API server; the volumes are opened as a node does. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hubKinds } from '../../../cli/fleet/worker/kinds.ts';
import { withIso } from '../../../cli/site/write-medium.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import { reportToSchema } from '../../../lib/engine/report/report-to.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { openVolume } from '../../../lib/relocation/site-volume/open-volume.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { rules, signal } from '../../unit/relocation/site-volume/volumes.ts';
import { skipWithout } from '../media/images.ts';
import { limits, NAMESPACE, startHub } from './hub.ts';

const skip = await skipWithout('xorriso', 'ssh-keygen');
if (skip) {
  t.pass('xorriso and ssh-keygen are not installed', { skip: true });
  process.exit();
}
const hub = await startHub(t);

const UPDATE = { url: 'https://updates.example.com/1', serial: 170 };

/** As the node with the recipient of its facts opens it. */
function open(iso: string) {
  const ageIdentity = readFileSync(hub.identity, 'utf8');
  const opened = { ageIdentity, facts: undefined, now: new Date() };
  return withIso(iso, signal, (folder) =>
    openVolume(folder, rules(opened), join(folder, '..', 'work'), signal),
  );
}

const keysOf = async (name: string) =>
  (await hub.find(hubKinds.secrets, `${name}-auth`))?.data ?? {};
const text = (data: Record<string, string>, key: string) =>
  Buffer.from(data[key] ?? '', 'base64').toString();
const isoOf = async (name: string) =>
  `${JSON.parse(text(await keysOf(name), 'volume.json')).iso}.iso`;

t.test('for a person: rendered, published, its keys kept; again: nothing', async (t) => {
  await hub.machine('m-person');
  await hub.newSite('person', 'm-person');
  const made = await hub.run('deliver', 'person');
  t.equal(made.code, 0, made.err);
  t.match(made.out, /person: rendered and published, serial 1\nperson: delivered: somebody/);
  const { status } = await hub.site('person');
  t.match(status?.volume, { serial: 1, url: /^http:\/\/hub\.example\/sites\/[0-9a-f]{32}\.iso$/ });
  const path = join(hub.published, status?.volume?.url?.split('/').at(-1) ?? '');
  t.equal(sha256(readFileSync(path)), status?.volume?.sha256);
  t.equal(statSync(path).mode & 0o777, 0o644, 'for a web server of another user');
  t.match(
    await Promise.all(
      ['Rendered', 'Delivered', 'Started', 'Completed', 'Failed'].map((type) =>
        hub.condition('person', type),
      ),
    ),
    [
      { status: 'True' },
      { status: 'True', reason: 'person' },
      { status: 'False' },
      { status: 'False' },
      { status: 'False' },
    ],
  );

  await t.test('the volume opens with the identity of the node', async (t) => {
    const verified = await sno([
      'verify',
      'site-volume',
      path,
      '--identity',
      hub.identity,
      '--ssh-key',
      hub.signer,
    ]);
    t.match(
      verified,
      { code: 0, out: /hosts {7}m-person[\s\S]*site {8}person\.example\.com/ },
      verified.err,
    );
  });

  await t.test('its key of the hub is that of this Site', async (t) => {
    const { files, credentials } = await open(path);
    const reportTo = reportToSchema.parse(
      JSON.parse(Buffer.from(files.get('report-to.json') ?? []).toString()),
    );
    if (!('hub' in reportTo)) throw new Error('no hub');
    const { server, certificateAuthority: ca, certificate, key, ...of } = reportTo.hub;
    const { uid } = (await hub.find(hubKinds.sites, 'person'))?.metadata ?? {};
    t.same(of, { namespace: NAMESPACE, name: 'person', uid });
    using node = new KubeClient({ server: new URL(server), ca, certificate, key });
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const call = {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: review,
    } as const;
    const who = await node.json(call, limits);
    t.match(who, {
      status: {
        userInfo: {
          username: 'sno:site:sno-fleet:person',
          groups: ['sno:sites', 'system:authenticated'],
        },
      },
    });
    const keys = await keysOf('person');
    t.match(credentials, { kind: 'authorities', servingCa: { key: text(keys, 'serving-ca.key') } });
    t.match(text(keys, 'kubeconfig'), 'https://api.person.example.com:6443');
  });

  await t.test('a second run changes nothing', async (t) => {
    const before = await hub.find(hubKinds.secrets, 'person-auth');
    const again = await hub.run('deliver', 'person');
    t.match(again, { code: 0, out: 'person: nothing to do: the serial 1 is delivered' });
    t.same(await hub.find(hubKinds.secrets, 'person-auth'), before);
  });

  await t.test(
    'a higher serial is another administrator, and takes away the volume before',
    async (t) => {
      await hub.report('person', { state: 'done' });
      const before = await keysOf('person');
      await hub.apply('person', { spec: { serial: 2 } }, 'test');
      const next = await hub.run('deliver', 'person');
      t.equal(next.code, 0, next.err);
      t.not(text(await keysOf('person'), 'kubeconfig'), text(before, 'kubeconfig'));
      const aside = await hub.find(hubKinds.secrets, 'person-auth-1');
      t.equal(text(aside?.data ?? {}, 'kubeconfig'), text(before, 'kubeconfig'), 'and is kept');
      t.notOk('ownerReferences' in (aside?.metadata ?? {}), 'also without the Site');
      t.match((await hub.site('person')).status?.volume, { serial: 2 });
      t.match(await hub.condition('person', 'Completed'), {
        status: 'False',
        reason: 'NotReported',
      });
      t.notOk(readdirSync(hub.published).includes(path.split('/').at(-1) ?? ''));
      const { use } = await open(join(hub.published, await isoOf('person')));
      t.equal(use.serial, 2);
    },
  );
});

t.test('a template with faults is in the condition, with exit code 2', async (t) => {
  await hub.template('wrong', `api_version: 1\ncluster_name: \${name}\nbase_domain: "_"\n`);
  await hub.machine('m-wrong');
  await hub.newSite('wrong', 'm-wrong', { templateRef: { name: 'wrong' } });
  t.match(await hub.run('deliver', 'wrong'), { code: 2, err: /base_domain/ });
  t.match(await hub.condition('wrong', 'Rendered'), {
    status: 'False',
    reason: 'site-config-refused',
    message: /^1 error in site-config\.yaml of ConfigMap wrong[^\n]*base_domain[^\n]*$/,
  });
  t.match(await hub.condition('wrong', 'Delivered'), { status: 'False' });
  t.equal(await hub.find(hubKinds.secrets, 'wrong-auth'), undefined, 'no keys were made');
  const refused: [string, object, RegExp][] = [
    ['absent', { templateRef: { name: 'nowhere' } }, /ConfigMap nowhere, which does not exist/],
    ['no-value', { values: { name: 'x' } }, /\$\{machine\} has no value/],
    ['no-update', { action: 'update' }, /spec\.update is missing/],
    ['mute', { action: 'update', update: UPDATE }, /does not report to this Site/],
  ];
  for (const [name, spec, message] of refused) {
    await hub.newSite(name, 'm-wrong', spec);
    t.match(await hub.run('deliver', name), { code: 2, err: message }, name);
    t.match(await hub.condition(name, 'Rendered'), { status: 'False', message }, name);
  }
});

t.test(
  'two Sites for one machine: the second one is refused until the first has no action',
  async (t) => {
    await hub.machine('m-twice');
    await hub.newSite('first', 'm-twice');
    await hub.newSite('second', 'm-twice');
    t.equal((await hub.run('deliver', 'first')).code, 0);
    const second = await hub.run('deliver', 'second');
    t.match(second, { code: 2, err: /another Site is for the machine m-twice; .*the Site first/ });
    t.match(await hub.condition('second', 'Rendered'), { status: 'False', message: /m-twice/ });
    await hub.apply('first', { spec: { action: 'none' } }, 'test');
    t.equal((await hub.run('deliver', 'second')).code, 0);
    t.match(await hub.run('deliver', 'first'), {
      code: 0,
      out: /nothing to do: its action is none/,
    });
  },
);

t.test('values of others stay values, and secrets are in no condition', async (t) => {
  await hub.template(
    'notes',
    `api_version: 1\ncluster_name: \${name}\nbase_domain: \${domain}\npullSecret: \${_dockerconfigjson}\n`,
  );
  const hostile = 'example.com"\nadditionalTrustBundle: x';
  await hub.machine('m-hostile');
  await hub.newSite('hostile', 'm-hostile', {
    templateRef: { name: 'notes' },
    values: { name: 'hostile', domain: hostile },
    secretRefs: [{ name: 'pull' }],
  });
  const secret = '{"auths": {"registry.example": {"auth": "Zm9vOmJhcg=="}}';
  await hub.create(resources.secrets, {
    metadata: { name: 'pull' },
    stringData: { '.dockerconfigjson': secret },
  });
  t.match(await hub.run('deliver', 'hostile'), {
    code: 2,
    err: /\$\{domain\} is not one line of text/,
  });
  const values = { name: 'hostile', domain: 'example.com: {a: [b' };
  await hub.apply('hostile', { spec: { values } }, 'test');
  const run = await hub.run('deliver', 'hostile');
  t.match(run, { code: 2, err: /base_domain/ });
  const { message = '' } = (await hub.condition('hostile', 'Rendered')) ?? {};
  t.notMatch(message + run.err, 'Zm9v');
});

t.test(
  'without a recipient nothing secret is on the volume, and the node cannot report',
  async (t) => {
    await hub.machine('m-plain', { recipient: undefined });
    await hub.newSite('plain', 'm-plain');
    const made = await hub.run('deliver', 'plain');
    t.equal(made.code, 0, made.err);
    t.match(await hub.condition('plain', 'Rendered'), { status: 'True', message: /cannot report/ });
    t.notOk('url' in ((await hub.site('plain')).status?.volume ?? {}), 'its address is a secret');
    t.match(await hub.run('collect', 'plain'), {
      code: 2,
      err: /the node of the Site plain cannot/,
    });
    const volume = readFileSync(join(hub.published, await isoOf('plain')), 'latin1');
    t.notMatch(volume, /PRIVATE KEY|report-to/);
  },
);

t.test('by the index of a selector, in the order of names', async (t) => {
  const args = ['--selector', 'wave=1', '--index'];
  const all = await hub.client.list(hubKinds.sites, { namespace: NAMESPACE }, limits);
  const names = all.items.map(({ metadata }) => metadata.name).toSorted();
  const at = names.indexOf('first');
  t.match(await hub.run('deliver', ...args, `${at}`), { code: 0, out: /^first: / });
  t.match(await hub.run('deliver', ...args, `${names.length}`), {
    code: 2,
    err: /no Site with the index/,
  });
  t.match(await hub.run('deliver', ...args, '-1'), { code: 2 });
});

t.test(
  'a Site that was changed after its volume was published needs a higher serial',
  async (t) => {
    await hub.machine('m-changed');
    await hub.newSite('changed', 'm-changed');
    t.equal((await hub.run('deliver', 'changed')).code, 0);
    const lastTransitionTime = new Date().toISOString();
    const said = { type: 'Delivered', status: 'False', reason: 'Test', message: '' };
    const { volume } = (await hub.site('changed')).status ?? {};
    const status = { conditions: [{ ...said, lastTransitionTime }], volume };
    await hub.apply('changed', { status }, 'sno-fleet', 'status');
    const before = await hub.find(hubKinds.secrets, 'changed-auth');
    const values = { name: 'renamed', machine: 'm-changed' };
    await hub.apply('changed', { spec: { values } }, 'test');
    t.match(await hub.run('deliver', 'changed'), { code: 2, err: /Raise spec\.serial/ });
    t.same(await hub.find(hubKinds.secrets, 'changed-auth'), before);
    await hub.apply('changed', { spec: { serial: 2, values } }, 'test');
    t.equal((await hub.run('deliver', 'changed')).code, 0);
    await hub.apply('changed', { spec: { serial: 1, values } }, 'test');
    t.match(await hub.run('deliver', 'changed'), { code: 2, err: /the serial has to rise/ });
  },
);

t.test('a Site with the name of one that was deleted has keys and claims of its own', async (t) => {
  await hub.machine('m-again');
  await hub.newSite('again', 'm-again');
  t.equal((await hub.run('deliver', 'again')).code, 0);
  const before = await hub.find(hubKinds.secrets, 'again-auth');
  await hub.client.remove(hubKinds.sites, { namespace: NAMESPACE, name: 'again' }, limits);
  const { metadata } = await hub.newSite('again', 'm-again');
  const run = await hub.run('deliver', 'again');
  t.equal(run.code, 0, run.err);
  const after = await hub.find(hubKinds.secrets, 'again-auth');
  t.match(after?.metadata, { ownerReferences: [{ uid: metadata.uid }] });
  t.not(after?.data?.kubeconfig, before?.data?.kubeconfig);
  const leases = await hub.client.list(hubKinds.leases, { namespace: NAMESPACE }, limits);
  const own = leases.items.filter(({ spec }) => spec?.holderIdentity === 'again');
  t.match(
    own.map((each) => each.metadata.annotations),
    [{ 'fleet.sno-agents.io/site-uid': metadata.uid }],
  );
});

t.test('without a serial, a Site has one above all that its machine has used', async (t) => {
  await hub.machine('m-next');
  const serialOf = async (name: string) => (await hub.site(name)).status?.volume?.serial;
  await hub.newSite('next-1', 'm-next', { serial: 41 });
  t.equal((await hub.run('deliver', 'next-1')).code, 0);
  await hub.client.remove(hubKinds.sites, { namespace: NAMESPACE, name: 'next-1' }, limits);
  await hub.newSite('next-2', 'm-next', { serial: undefined });
  const made = await hub.run('deliver', 'next-2');
  t.match(made, { code: 0, out: /serial 42/ }, made.err);
  t.equal(await serialOf('next-2'), 42);
  t.match(await hub.run('deliver', 'next-2'), { code: 0, out: /the serial 42 is delivered/ });
  await hub.apply('next-2', { spec: { action: 'none' } }, 'test');
  t.equal((await hub.run('deliver', 'next-2')).code, 0);
  await hub.newSite('next-3', 'm-next', { serial: undefined });
  t.equal((await hub.run('deliver', 'next-3')).code, 0);
  t.equal(await serialOf('next-3'), 43, 'also after one that is still there');
  await hub.report('next-3', { change: 'relocate', state: 'done', serial: 43 });
  t.equal((await hub.run('collect', 'next-3', '--deadline', '30s')).code, 0);
});

t.test('nothing unfinished is in the published folder', async (t) => {
  t.same(
    readdirSync(hub.published).filter((name) => name.startsWith('.')),
    [],
  );
});
