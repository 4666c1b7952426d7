import t, { type Test } from 'tap';
import { readAttempts, recordAttempts } from '../../../../agents/upkeep/renew/attempts.ts';
import { concludeRenewal } from '../../../../agents/upkeep/renew/conclude.ts';
import { laptopCa } from '../../../../agents/upkeep/renew/laptop-ca.ts';
import {
  createAuthority,
  createLaptopAuthorities,
} from '../../../../lab/certificates/signed-now.ts';
import { readKubeconfig } from '../../../../lib/clients/kube/kubeconfig.ts';
import { exists } from '../../../../lib/host/files.ts';
import type { HostEndpoints } from '../../../../lib/host/paths.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { laptopAdminCa } from '../../../../lib/render/kubernetes/authorities.ts';
import { apiServerTrust } from '../../../../lib/render/kubernetes/kube-apiserver.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { servingAuthority } from '../../gather/cluster/serve-api.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, refuse } from '../host/api.ts';
import { testHost } from '../host/host.ts';
import { copyAt, seal } from '../host/sealed.ts';
import { toldToStop } from './told-to-stop.ts';

const RECORD = 'GET /api/v1/namespaces/kube-system/configmaps/sno-administrators';
const own = await createAuthority('admin-ca');
const { adminCa } = await createLaptopAuthorities();

/** A host that trusts the laptop, and an API with these answers, which names the authority `ca` to clients. */
async function trustingHost(t: Test, answers: Readonly<Record<string, ApiAnswer>>, ca?: string) {
  const endpoints: { -readonly [Name in keyof HostEndpoints]: HostEndpoints[Name] } = {};
  const host = testHost(t, { endpoints, settings: { renewApiMs: 600, renewProofMs: 1 } });
  const api = await fakeApi(t, host, { 'GET /readyz': () => ({}), ...answers }, ca);
  endpoints.api = (await readKubeconfig(host.at(kubeconfigs.csrApprover))).server.href;
  const { gather } = accessTo('kubernetes');
  host.write(gather.ca, servingAuthority);
  host.write(gather.signer.certificate, own.certificate);
  host.write(gather.signer.key, own.key, 0o600);
  host.write(apiServerTrust.clients, own.certificate + adminCa.certificate);
  host.write(laptopAdminCa, adminCa.certificate);
  const context = { ...host.context, run: 'first' };
  return {
    host,
    api,
    run: (signal?: AbortSignal) => laptopCa.run(context, host.progress(signal)),
    holds: () => laptopCa.holds(context, host.progress()),
    conclude: () => concludeRenewal.run(context, host.progress()),
    failure: async () => (await readAttempts(host.paths)).at(0)?.failure,
  };
}

const configMap = (data: Record<string, string>): ApiAnswer => {
  return () => ({ metadata: { name: 'sno-administrators', namespace: 'kube-system' }, data });
};
const replaced = { version: '1', laptopCa: 'replaced', time: new Date().toISOString() };
const ofLostHost = { ...replaced, time: new Date(Date.now() - 60_000).toISOString() };

const PUBLISHED = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

/** A host whose kubeconfig was exchanged, and an API server that names its own authority only. */
async function exchangedHost(t: Test, more: Readonly<Record<string, ApiAnswer>> = {}) {
  const published = {
    metadata: {
      ...{ name: 'extension-apiserver-authentication', namespace: 'kube-system' },
      resourceVersion: '7',
    },
    data: { 'client-ca-file': own.certificate + adminCa.certificate, 'requestheader-x': 'kept' },
  };
  const answers = {
    [RECORD]: configMap(replaced),
    [`GET ${PUBLISHED}`]: () => published,
    [`PUT ${PUBLISHED}`]: ({ body }: { body: string }) =>
      Object.assign(published, JSON.parse(body)),
    ...more,
  };
  const it = await trustingHost(t, answers, own.certificate);
  it.host.write(apiServerTrust.frontProxy, 'the front proxy');
  return { ...it, published };
}

t.test("the laptop's CA is trusted by nobody, once auth/kubeconfig was exchanged", async (t) => {
  const it = await exchangedHost(t);
  const { afterBoot } = seal(it.host);
  it.host.write(copyAt(laptopAdminCa), 'sealed');
  t.equal(await it.holds(), false);
  t.same(await it.run(), { kind: 'done', note: 'refused from now on' });
  t.equal(it.host.read(apiServerTrust.clients), own.certificate);
  t.equal(it.host.mode(apiServerTrust.clients), 0o644);
  t.same(it.published.data, {
    'client-ca-file': own.certificate,
    'requestheader-x': 'kept',
    'requestheader-client-ca-file': 'the front proxy',
  });
  t.match(it.published.metadata, { resourceVersion: '7' }, 'not over what others have written');
  t.notOk(it.host.has(laptopAdminCa));
  t.equal(afterBoot(apiServerTrust.clients), own.certificate, 'nor after the next boot');
  t.equal(afterBoot(laptopAdminCa), undefined);
  t.equal(await it.failure(), undefined);
  t.equal(await it.holds(), true);
  t.match(it.host.lines.join(''), /refuses the laptop's administrators/);
});

t.test('where nothing is published yet, nothing is taken back', async (t) => {
  const it = await exchangedHost(t, { [`GET ${PUBLISHED}`]: () => refuse(404, 'not found') });
  t.same(await it.run(), { kind: 'done', note: 'refused from now on' });
  t.notOk(it.api.requests.includes(`PUT ${PUBLISHED}`));
});

t.test('interrupted at any moment, it goes on until nobody trusts it', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => exchangedHost(t),
    async run({ holds, run }) {
      if (!(await holds())) await run();
    },
    allowed({ host, published }, when) {
      const isTrusted =
        host.read(apiServerTrust.clients) !== own.certificate ||
        published.data['client-ca-file'] !== own.certificate;
      t.ok(host.has(laptopAdminCa) || !isTrusted, `${when}: the next run would not go on`);
    },
    result: ({ host, published }) => [
      host.read(apiServerTrust.clients),
      published.data,
      host.has(laptopAdminCa),
    ],
    least: 5,
    isDurable: true,
  });
});

t.test('told to stop while the API server does not answer, it has not failed', async (t) => {
  for (const asked of ['GET /readyz', RECORD, `GET ${PUBLISHED}`, `PUT ${PUBLISHED}`]) {
    await toldToStop(t, asked, async (silent, signal) => {
      const { host, run, api } = await exchangedHost(t, { [asked]: silent });
      await run(signal).finally(async () => {
        t.equal(api.requests.at(-1), asked, 'nothing is asked any more');
        t.same(await readAttempts(host.paths), [], 'nothing is recorded');
        t.ok(host.has(laptopAdminCa), 'the next run goes on');
      });
    });
  }
});

t.test("the laptop's CA", async (t) => {
  for (const [what, answer] of [
    ['no record', () => refuse(404, 'not found')],
    ['another state', configMap({ ...replaced, laptopCa: 'in use' })],
    ['no time', configMap({ version: '1', laptopCa: 'replaced' })],
    ['nothing', configMap({})],
    ['a record from before it was made', configMap(ofLostHost)],
  ] as const) {
    t.test(`stays trusted: ${what}`, async (t) => {
      const it = await trustingHost(t, { [RECORD]: answer });
      t.match(await it.run(), { note: /^trusted/ });
      t.equal(it.host.read(apiServerTrust.clients), own.certificate + adminCa.certificate);
      t.equal(await it.failure(), undefined);
      t.equal(await it.holds(), true, 'for this run');
    });
  }

  t.test('an API that is gone is a failure of this step only', async (t) => {
    const it = await trustingHost(t, { 'GET /readyz': () => refuse(500, 'starting') });
    t.same(await it.run(), { kind: 'done', note: 'failed' });
    t.match(await it.failure(), {
      code: 'laptop-ca-trusted',
      cause: { what: /the API was not ready/ },
    });
    await t.rejects(it.conclude(), { message: /^the laptop's CA is still trusted; found/ });
    const other = { paths: it.host.paths, run: 'first' };
    await recordAttempts(other, [{ name: 'deferred', error: new Error('refused') }]);
    await t.rejects(it.conclude(), {
      message: /^deferred could not be renewed; the laptop's CA is still trusted; found/,
    });
    t.equal(it.host.read(apiServerTrust.clients), own.certificate + adminCa.certificate);
  });

  t.test('a server that names no authority proves nothing', async (t) => {
    const it = await trustingHost(t, { [RECORD]: configMap(replaced) });
    t.same(await it.run(), { kind: 'done', note: 'failed' });
    t.match(await it.failure(), { cause: { cause: { found: 'neither' } } });
    t.equal(it.host.read(apiServerTrust.clients), own.certificate, 'it is not trusted again');
    t.ok(await exists(it.host.at(laptopAdminCa)), 'the next run goes on');
  });

  t.test('a server that names it beside its own still accepts its clients', async (t) => {
    const both = own.certificate + adminCa.certificate;
    const it = await trustingHost(t, { [RECORD]: configMap(replaced) }, both);
    t.same(await it.run(), { kind: 'done', note: 'failed' });
    t.match(await it.failure(), { cause: { cause: { found: 'that of the laptop' } } });
    t.ok(await exists(it.host.at(laptopAdminCa)), 'the next run goes on');
  });

  t.test('what was tried for something else in this run counts for that', async (t) => {
    const it = await trustingHost(t, {});
    const now = { paths: it.host.paths, run: 'first' };
    await recordAttempts(now, [{ name: 'deferred', error: new Error('refused') }]);
    t.equal(await it.holds(), false);
    it.host.remove(laptopAdminCa);
    t.equal(await it.holds(), true);
  });

  t.test('a host without it asks nobody', async (t) => {
    const it = await trustingHost(t, {});
    it.host.remove(laptopAdminCa);
    t.equal(await it.holds(), true);
    const error = new Error('it was trusted');
    const earlier = { paths: it.host.paths, run: 'earlier' };
    await recordAttempts(earlier, [{ name: 'laptop-admin-ca', error }]);
    t.equal(await it.holds(), false, 'an earlier failure is forgotten');
    t.match(await it.run(), { note: 'nothing trusts it' });
    t.equal(await it.failure(), undefined);
    t.same(it.api.requests, []);
  });
});
