import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { workersAccess } from '../../../../cli/fleet/worker/access.ts';
import { machinesOf } from '../../../../cli/fleet/worker/claims.ts';
import type { SiteInputs } from '../../../../cli/fleet/worker/inputs.ts';
import { withCondition } from '../../../../cli/fleet/worker/progress.ts';
import { addressOf, publishedPlace } from '../../../../cli/fleet/worker/publish.ts';
import { renderSite, withoutSecrets } from '../../../../cli/fleet/worker/render.ts';
import { nodesHub } from '../../../../cli/fleet/worker/report-access.ts';
import { askedName } from '../../../../lib/change/site/asked-name.ts';
import { signal } from '../../relocation/site-volume/volumes.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

t.test('a condition keeps the time of its last change', async (t) => {
  const early = new Date('2026-11-01T00:00:00Z');
  const late = new Date('2026-11-02T00:00:00Z');
  const said = { type: 'Rendered', status: 'False', reason: 'usage', message: 'a\nb' } as const;
  const first = withCondition([], said, early);
  t.match(first, [{ message: 'a | b', lastTransitionTime: early.toISOString() }]);
  const again = withCondition(first, { ...said, message: 'x'.repeat(5000) }, late);
  t.match(again, [{ lastTransitionTime: early.toISOString() }]);
  t.ok((again[0]?.message.length ?? 0) <= 768, 'as long as the API server takes');
  const changed = withCondition(again, { ...said, status: 'True' }, late);
  t.match(changed, [{ status: 'True', lastTransitionTime: late.toISOString() }]);
});

t.test('a machine is known by all that identifies it', async (t) => {
  const delivery = { by: 'virtualMedia', bareMetalHost: { name: 'h' } } as const;
  const spec = { action: 'relocate', serial: 1, delivery } as const;
  t.same(machinesOf({ spec }, { hosts: ['CZ1'] }, { identifiers: ['cz1', '52:54:00:12:34:56'] }), [
    '52:54:00:12:34:56',
    'BareMetalHost h',
    'cz1',
  ]);
  const everyNode = { action: 'relocate', serial: 1 } as const;
  t.same(machinesOf({ spec: everyNode }, { hosts: [] }, undefined), []);
});

t.test('names that nodes ask for lead nowhere else', async (t) => {
  t.equal(askedName('52:54:00:12:34:56'), '52-54-00-12-34-56.site');
  for (const bad of ['..', '../x', 'a/b', '.x', 'A', 'a b', ''])
    t.equal(askedName(bad), undefined, bad);
});

const inputs = (text: string, values: Record<string, string>, more: Partial<SiteInputs> = {}) => ({
  template: { text, name: 'the template' },
  files: new Map(),
  values: new Map(Object.entries(values)),
  ambiguous: [],
  secrets: [],
  facts: undefined,
  ...more,
});
const CONFIG = `api_version: 1
cluster_name: \${name}
base_domain: example.com
`;

t.test('a template with its values', async (t) => {
  const context = { now: new Date(), signal };
  const render = (given: SiteInputs, serial = 1) => renderSite(given, serial, context);
  t.match(await render(inputs(CONFIG, { name: 'berlin' })), { config: { clusterName: 'berlin' } });
  const refused: [string, SiteInputs, RegExp][] = [
    ['no value', inputs(CONFIG, {}), /\$\{name\} has no value/],
    ['a name of JavaScript', inputs(CONFIG.replace('name}', 'constructor}'), {}), /no value/],
    ['two lines', inputs(CONFIG, { name: 'a\nhosts: [x]' }), /not one line/],
    ['another line of YAML', inputs(CONFIG, { name: 'a\u2028b' }), /not one line/],
    ['two sources', inputs(CONFIG, { name: 'a' }, { ambiguous: ['name'] }), /more than one value/],
    ['a serial of its own', inputs(`${CONFIG}serial: 7\n`, { name: 'a' }), /serial of its own/],
  ];
  for (const [what, given, message] of refused) {
    await t.rejects(render(given), { kind: 'usage', code: 'site-config-refused', message }, what);
  }
  t.match(await render(inputs(`${CONFIG}serial: 7\n`, { name: 'a' }), 7), {
    config: { serial: 7 },
  });
  const secret = 'hunter2 is no domain';
  const leaking = inputs(
    CONFIG.replace('example.com', () => `\${word}`),
    { name: 'a', word: secret },
  );
  await t.rejects(render(leaking), /hunter2/, 'a fault quotes what it has found');
  const hidden = await render({ ...leaking, secrets: [secret] }).catch((error: unknown) => error);
  t.notMatch(`${hidden}`, /hunter2/);
});

t.test('a longer secret is hidden before one that is a part of it', async (t) => {
  t.equal(withoutSecrets('found abcdefgh', ['abcd', 'abcdefgh', 'f']), 'found (secret)');
});

t.test('in a pod: the service account, whose token is read for each request', async (t) => {
  const account = t.testdir({ 'ca.crt': PEM, token: 'first\n', namespace: 'shops' });
  const environment = {
    HOME: account,
    KUBERNETES_SERVICE_HOST: 'fd00::1',
    KUBERNETES_SERVICE_PORT: '443',
  };
  const surroundings = { environment, signal };
  const reached = await workersAccess({}, surroundings, account);
  t.match(reached, { namespace: 'shops', isInPod: true });
  t.equal(reached.access.server.href, 'https://[fd00::1]/');
  t.match(await reached.access.renewed?.(), { token: 'first' });
  writeFileSync(join(account, 'token'), 'second');
  t.match(await reached.access.renewed?.(), { token: 'second' });
  t.match(await workersAccess({ namespace: 'other' }, surroundings, account), {
    namespace: 'other',
  });
  const nowhere = join(account, 'nowhere');
  await t.rejects(workersAccess({}, surroundings, nowhere), {
    kind: 'usage',
    message: /--kubeconfig/,
  });
  await t.rejects(nodesHub({}, reached), { kind: 'usage', message: /--hub-server/ });
  t.match(await nodesHub({ hubServer: 'https://hub.example:6443' }, reached), {
    server: 'https://hub.example:6443',
    ca: PEM,
  });
  for (const hubServer of ['http://hub.example', 'hub']) {
    await t.rejects(
      nodesHub({ hubServer }, reached),
      { kind: 'usage', message: /no node could report/ },
      hubServer,
    );
  }
});

t.test('where volumes are published', async (t) => {
  const publish = t.testdir({ file: '' });
  const place = await publishedPlace({ publish, publishUrl: 'https://web.example/sites//' });
  t.equal(addressOf(place, { iso: 'abc' }), 'https://web.example/sites/abc.iso');
  await t.rejects(publishedPlace({}), { kind: 'usage', message: /--publish is missing/ });
  await t.rejects(publishedPlace({ publish, publishUrl: 'file:///etc' }), {
    kind: 'usage',
    message: /--publish-url/,
  });
  const absent = join(publish, 'not-mounted');
  await t.rejects(
    publishedPlace({ publish: absent }),
    { kind: 'retry', message: /is not a folder/ },
    'it may be mounted later',
  );
});
