import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import timers from 'node:timers/promises';
import t, { type Test } from 'tap';
import { readAttempts, recordAttempts } from '../../../../agents/upkeep/renew/attempts.ts';
import { kubeletServing } from '../../../../agents/upkeep/renew/kubelet-serving.ts';
import { rotationWindow } from '../../../../agents/upkeep/renew/rotation-window.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import type { Settings } from '../../../../lib/host/settings.ts';
import { requestObject } from '../../cluster/csr/requests.ts';
import { recordFileOperations } from '../../host/file-operations.ts';
import { type ApiAnswer, listOf, refuse } from '../host/api.ts';
import {
  approvingHost,
  ofKubelet,
  servingSigner,
  type WritableEndpoints,
} from '../host/approver.ts';
import { testHost } from '../host/host.ts';
import { toldToStop } from './told-to-stop.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const APPROVAL = `PUT ${REQUESTS}/csr-abcde/approval`;
const CURRENT = '/var/lib/kubelet/pki/kubelet-server-current.pem';
const DAY_MS = 86_400_000;
const foreign = await createAuthority('kubelet-serving-ca');

/** A serving certificate with a lifetime of 100 days, the backdating included. */
const aged = async (
  days: number,
  names = { dnsNames: ['edge-0'], ipAddresses: ['192.0.2.10'] },
  authority = servingSigner,
) => {
  const profile = {
    subject: { commonName: 'system:node:edge-0' },
    usage: 'server',
    ...names,
    lifetimeDays: 99,
  } as const;
  const signed = new Date(Date.now() - (days - 1) * DAY_MS);
  return (await issueLeaf(authority, profile, signed)).certificate;
};

const own = {
  subject: [{ O: ['system:nodes'] }, { CN: ['system:node:edge-0'] }],
  names: [
    { type: 'dns' as const, value: 'edge-0' },
    { type: 'ip' as const, value: '192.0.2.10' },
  ],
  spec: { username: 'system:node:edge-0', extra: ofKubelet },
  created: new Date().toISOString(),
};
const request = await requestObject(own);
const ofOther = await requestObject({ ...own, spec: { username: 'system:node:edge-1' } });
/** Of the first days of a lifetime, for a host of another name or address. */
const ofOtherHost = {
  'of another name': await aged(10, { dnsNames: ['edge-1'], ipAddresses: ['192.0.2.10'] }),
  'of another address': await aged(10, { dnsNames: ['edge-0'], ipAddresses: ['192.0.2.11'] }),
  'of one more address': await aged(10, {
    dnsNames: ['edge-0'],
    ipAddresses: ['192.0.2.10', '192.0.2.11'],
  }),
  'of another authority with the same name': await aged(10, undefined, foreign),
};
const node = {
  metadata: { name: 'edge-0', uid: 'u' },
  status: { addresses: [{ type: 'InternalIP', address: '192.0.2.10' }] },
};

/** A host whose kubelet has a certificate of that age, and an API with these requests. */
async function servingHost(
  t: Test,
  {
    days,
    requests = [],
    settings = {},
    more = {},
  }: {
    readonly days?: number;
    readonly requests?: object[];
    readonly settings?: Partial<Settings>;
    readonly more?: Readonly<Record<string, ApiAnswer>>;
  },
) {
  const endpoints: WritableEndpoints = {};
  const host = testHost(t, { endpoints, settings: { servingRequestMs: 60_000, ...settings } });
  host.write(`${CURRENT}.keep`);
  if (days !== undefined) host.write(CURRENT, await aged(days));
  const api = await approvingHost(t, host, endpoints, {
    'GET /readyz': () => ({}),
    'GET /api/v1/nodes': () => listOf(node),
    [`GET ${REQUESTS}`]: () => listOf(...requests),
    ...more,
  });
  const context = { ...host.context, run: 'first' };
  return {
    host,
    api,
    context,
    run: (signal?: AbortSignal) => kubeletServing.run(context, host.progress(signal)),
    async failure() {
      return (await readAttempts(host.paths)).find(({ name }) => name === 'kubelet-serving')
        ?.failure;
    },
  };
}

const REQUEST_MS = 54_321;

/** The time for a request is over as soon as that has happened. */
function overAfter(t: Test, happened: Promise<void>): void {
  const real = timers.setTimeout;
  const over = async (ms: number, value: unknown, options: object) => {
    if (ms !== REQUEST_MS) return real(ms, value, options);
    await happened;
    return value;
  };
  const replaced = mock.method(timers, 'setTimeout', over);
  syncBuiltinESMExports();
  t.teardown(() => {
    replaced.mock.restore();
    syncBuiltinESMExports();
  });
}

t.test('kubelet-serving', async (t) => {
  t.test('before the window it asks nobody', async (t) => {
    const it = await servingHost(t, { days: 69 });
    t.match(await it.run(), {
      kind: 'done',
      note: /^the kubelet requests the next one after 20/,
    });
    t.same(it.api.requests, []);
    t.equal(await it.failure(), undefined);
    t.equal(await kubeletServing.holds(it.context, it.host.progress()), true);
    const later = { ...it.context, run: 'later' };
    const holds = (context = later) => kubeletServing.holds(context, it.host.progress());
    t.equal(await holds(), true, 'nothing to do in the next run');
    await recordAttempts(it.context, [{ name: 'kubelet-serving', error: new Error('x') }]);
    t.equal(await holds(), false, 'a failure is looked at again');
    t.equal(await holds(it.context), true, 'in the next run');
    await recordAttempts(it.context, [{ name: 'kubelet-serving' }]);
    for (const pem of [await aged(71), ...Object.values(ofOtherHost)]) {
      it.host.write(CURRENT, pem);
      t.equal(await holds(), false, 'the kubelet may request one');
    }
    it.host.remove(CURRENT);
    t.equal(await holds(), false, 'it has none');
  });

  t.test('one that is not valid yet is not waited for: the kubelet requests none', async (t) => {
    const it = await servingHost(t, { days: -400 });
    t.match(await it.run(), { kind: 'done', note: /not valid yet/ });
    t.same(it.api.requests, []);
    t.equal(await it.failure(), undefined);
  });

  t.test('where it is approved elsewhere, nobody is asked', async (t) => {
    const settings = { approveCertificates: false };
    const it = await servingHost(t, { days: 75, requests: [request], settings });
    t.equal(await kubeletServing.holds(it.context, it.host.progress()), true);
    t.match(await it.run(), { kind: 'done', note: /approveCertificates is false/ });
    t.same(it.api.requests, []);
    t.equal(await it.failure(), undefined);
  });

  t.test('what a run in the future recorded is tried again', async (t) => {
    const it = await servingHost(t, { days: 69 });
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 4 * 365 * DAY_MS });
    const error = new Error('refused');
    await recordAttempts({ ...it.context, run: 'then' }, [{ name: 'kubelet-serving', error }]);
    mock.timers.reset();
    t.equal(await kubeletServing.holds(it.context, it.host.progress()), false);
    await it.run();
    t.equal(await it.failure(), undefined);
  });

  t.test("other nodes' requests are not its own", async (t) => {
    const settings = { servingRequestMs: REQUEST_MS };
    const it = await servingHost(t, { days: 75, requests: [ofOther], settings });
    overAfter(t, it.host.said(/Did not approve/));
    t.match(await it.run(), { note: /^the kubelet requests the next one before 20/ });
    t.equal(await it.failure(), undefined);
  });

  const current: [title: string, pem: string | undefined][] = [
    ['that does not exist', undefined],
    ['of 75 days', await aged(75)],
    ['of 99 days', await aged(99)],
    ...Object.entries(ofOtherHost),
  ];
  for (const [title, pem] of current) {
    t.test(`approves the request of its node, with a certificate ${title}`, async (t) => {
      const approvals: object[] = [];
      const it = await servingHost(t, {
        requests: [request],
        more: {
          [APPROVAL]: async ({ body }) => {
            approvals.push(JSON.parse(body).status.conditions[0]);
            // What the controller-manager and the kubelet do in response.
            it.host.write(CURRENT, await aged(0));
            return JSON.parse(body);
          },
        },
      });
      if (pem !== undefined) it.host.write(CURRENT, pem);
      const files = await recordFileOperations(t, it.host.at('/var/lib/kubelet/pki'));
      t.same(await it.run(), { kind: 'done', note: 'the kubelet has a new one' });
      t.ok(
        files.seen.includes('sync kubelet-server-current.pem'),
        'a power cut leaves it complete',
      );
      t.match(approvals, [{ type: 'Approved', status: 'True' }]);
      t.same([...it.api.clients], ['O=sno-agents:csr-approver\nCN=sno-agents:csr-approver']);
      t.equal(await it.failure(), undefined);
    });
  }

  t.test('in the window, a request that does not come is not an error', async (t) => {
    const it = await servingHost(t, { days: 75, settings: { servingRequestMs: 1 } });
    t.match(await it.run(), { note: /^the kubelet requests the next one before 20/ });
    t.equal(await it.failure(), undefined);
    t.match(it.host.lines.join(''), /Waiting for the kubelet's request/);
  });

  t.test('a certificate for another address, and no request, is a warning', async (t) => {
    const it = await servingHost(t, { settings: { servingRequestMs: 1 } });
    it.host.write(CURRENT, ofOtherHost['of another address']);
    t.match(await it.run(), { note: /not for the host's present name and addresses/ });
    t.equal(await it.failure(), undefined);
    t.match(it.host.lines.join(''), /serving certificate: it is not for/);
  });

  for (const days of [undefined, 91]) {
    t.test(`after the window it is an error; certificate of ${days} days`, async (t) => {
      const settings = { servingRequestMs: 1 };
      const it = await servingHost(t, { ...(days === undefined ? {} : { days }), settings });
      t.same(await it.run(), { kind: 'done', note: 'failed' });
      t.match(await it.failure(), {
        code: 'serving-request-missing',
        fix: /journalctl -u kubelet/,
      });
    });
  }

  t.test('a request that violates a rule is left pending, with the rule', async (t) => {
    const names = [{ type: 'dns' as const, value: 'other.example.test' }];
    const wrong = await requestObject({ ...own, names });
    const earlier = { ...wrong, metadata: { ...wrong.metadata, name: 'csr-earlier', uid: 'u0' } };
    const settings = { servingRequestMs: REQUEST_MS };
    const it = await servingHost(t, { days: 75, requests: [earlier, wrong], settings });
    overAfter(t, it.host.said(/request=csr-abcde/));
    t.same(await it.run(), { kind: 'done', note: 'failed' });
    t.match(await it.failure(), {
      code: 'serving-request-pending',
      subject: 'csr-abcde',
      what: /by rule "names"/,
      found: /other\.example\.test/,
    });
    t.match(it.host.lines.join(''), /request=csr-abcde rule=names/, 'for the report');
  });

  t.test('an approved request without a certificate is an error', async (t) => {
    const it = await servingHost(t, {
      days: 75,
      requests: [request],
      settings: { servingRequestMs: REQUEST_MS },
      more: { [APPROVAL]: ({ body }) => JSON.parse(body) },
    });
    overAfter(t, it.host.said(/Approved/));
    t.match(await it.run(), { note: 'failed' });
    t.match(await it.failure(), { code: 'serving-request-pending', what: /is approved/ });
  });

  t.test('an API server that starts with the host is waited for', async (t) => {
    let asked = 0;
    const ready = Promise.withResolvers<void>();
    const it = await servingHost(t, {
      days: 75,
      settings: { servingRequestMs: REQUEST_MS },
      more: {
        'GET /readyz': () => {
          if (++asked < 3) return refuse(500, 'starting');
          ready.resolve();
          return {};
        },
      },
    });
    overAfter(t, ready.promise);
    t.match(await it.run(), { note: /^the kubelet requests the next one before 20/ });
    t.equal(await it.failure(), undefined);
    const late = await servingHost(t, {
      days: 75,
      settings: { renewApiMs: 600 },
      more: { 'GET /readyz': () => refuse(500, 'starting') },
    });
    t.match(await late.run(), { note: 'failed' });
    t.match(await late.failure(), { what: /the API was not ready/, found: /readyz/ });
  });

  t.test('an API that does not answer is an error of this certificate only', async (t) => {
    const it = await servingHost(t, {
      days: 75,
      settings: { servingRequestMs: REQUEST_MS },
      more: { [`GET ${REQUESTS}`]: () => refuse(500, 'etcd is down') },
    });
    t.same(await it.run(), { kind: 'done', note: 'failed' });
    t.match(await it.failure(), { what: /etcd is down/ });
  });

  t.test('told to stop, it records nothing', async (t) => {
    const it = await servingHost(t, { days: 75 });
    t.ok(
      await it.host.waitsFor(
        {
          name: kubeletServing.name,
          leaves: kubeletServing.leaves,
          touches: kubeletServing.touches,
          input: () => '',
          holds: async () => false,
          run: (_, progress) => kubeletServing.run(it.context, progress),
        },
        /Waiting for the kubelet's request/,
      ),
    );
    t.same(await readAttempts(it.host.paths), []);
  });
});

t.test('told to stop while the API server does not answer, it has not failed', async (t) => {
  for (const asked of ['GET /readyz', `GET ${REQUESTS}`, 'GET /api/v1/nodes', APPROVAL]) {
    await toldToStop(t, asked, async (silent, signal) => {
      const more = { [asked]: silent };
      const { host, api, run } = await servingHost(t, { days: 75, requests: [request], more });
      await run(signal).finally(async () => {
        t.equal(api.requests.at(-1), asked, 'nothing is asked any more');
        t.same(await readAttempts(host.paths), [], 'nothing is recorded');
      });
    });
  }
});

t.test('the window is from 70 to 90 % of the lifetime', async (t) => {
  t.teardown(() => mock.timers.reset());
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') });
  const { from, until } = rotationWindow(await aged(0));
  t.equal(from.toISOString(), '2026-03-12T00:00:00.000Z');
  t.equal(until.toISOString(), '2026-04-01T00:00:00.000Z');
});
