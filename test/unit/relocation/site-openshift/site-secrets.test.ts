/** Secrets and ConfigMaps of a site: what there was before, and what there must be. */
import t from 'tap';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { INSTALLED } from './installed-objects.ts';
import {
  base64,
  IDENTITY,
  MINIMAL,
  PASSWORD,
  placeOf,
  plain,
  startSiteApi,
  TRUST,
} from './site-api.ts';

const SECRETS = '/api/v1/namespaces/openshift-config/secrets';
const BUNDLES = '/api/v1/namespaces/openshift-config/configmaps';
const KUBEADMIN = '/api/v1/namespaces/kube-system/secrets/kubeadmin';

const PULL = '{"auths":{"site.test":{"auth":"YTpi"}}}';

const earlier = (namespace: string, name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { namespace, name, labels: { of: 'somebody' } },
  data: { 'tls.crt': base64('earlier'), 'tls.key': base64('earlier'), 'ca.crt': base64('earlier') },
});
const bundle = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'openshift-config', name, annotations: { of: 'somebody' } },
  data: { 'ca-bundle.crt': 'earlier', other: 'earlier' },
});

t.test('certificates of an earlier site are replaced, each Secret stays what it is', async (t) => {
  const secrets = [
    earlier('openshift-config', 'sno-site-api'),
    earlier('openshift-config', 'sno-site-ingress'),
    earlier('openshift-ingress', 'sno-site-ingress'),
  ];
  const { carryOut, writes, api } = await startSiteApi(t, [...INSTALLED, ...secrets]);
  await carryOut(MINIMAL);
  t.strictSame(
    writes().slice(0, 3),
    secrets.map((each) => `PUT ${placeOf(each)}`),
  );
  for (const [index, secret] of secrets.entries()) {
    const { certificate, key } = index === 0 ? IDENTITY.api : IDENTITY.ingress;
    const data = { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
    t.strictSame(plain(api.get(placeOf(secret))), { ...secret, data });
  }
  await carryOut(MINIMAL, { ...IDENTITY, api: { ...IDENTITY.api, key: 'another key' } });
  t.strictSame(writes(), [`PUT ${SECRETS}/sno-site-api`], 'the others are as they should be');
});

t.test('a Secret of another type keeps it, which the API lets nobody change', async (t) => {
  const opaque = { ...earlier('openshift-config', 'sno-site-api'), type: 'Opaque' };
  const { carryOut, api } = await startSiteApi(t, [...INSTALLED, opaque]);
  await carryOut(MINIMAL);
  t.match(api.get(placeOf(opaque)), {
    type: 'Opaque',
    data: { 'tls.crt': base64('certificate of api') },
  });
});

t.test('bundles of an earlier site are replaced', async (t) => {
  const names = ['user-ca-bundle', 'admin-kubeconfig-client-ca'];
  const { carryOut, api } = await startSiteApi(t, [...INSTALLED, ...names.map(bundle)]);
  const text = `${MINIMAL}allowRestart: true\nadditionalTrustBundle: {userCaBundle: ${JSON.stringify(TRUST)}}\n`;
  await carryOut(text);
  for (const [name, contents] of [
    ['user-ca-bundle', TRUST],
    ['admin-kubeconfig-client-ca', 'authority of administrators'],
  ] as const) {
    const wanted = { ...bundle(name), data: { 'ca-bundle.crt': contents } };
    t.strictSame(plain(api.get(`${BUNDLES}/${name}`)), wanted);
  }
});

t.test('kubeadmin and the pull secret have nothing of before but what they are', async (t) => {
  const secrets = [
    ['kube-system', 'kubeadmin', 'Opaque', 'kubeadmin', PASSWORD],
    [
      'openshift-config',
      'pull-secret',
      'kubernetes.io/dockerconfigjson',
      '.dockerconfigjson',
      PULL,
    ],
  ] as const;
  const secretOf = ([namespace, name, type]: (typeof secrets)[number], data: object) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', type, data },
    metadata: { namespace, name, labels: { of: 'somebody' } },
  });
  const before = secrets.map((each) =>
    secretOf(each, { [each[3]]: base64('earlier'), other: base64('earlier') }),
  );
  const others = INSTALLED.filter((each) => !before.some((own) => placeOf(own) === placeOf(each)));
  const { carryOut, api } = await startSiteApi(t, [...others, ...before]);
  await carryOut(`${MINIMAL}kubeadmin_password_hash: ${PASSWORD}\npull_secret: '${PULL}'\n`);
  for (const each of secrets) {
    const wanted = secretOf(each, { [each[3]]: base64(each[4]) });
    t.strictSame(plain(api.get(placeOf(wanted))), wanted);
  }
});

t.test('the authority of the administrators is made if somebody has deleted it', async (t) => {
  const others = INSTALLED.filter(({ metadata }) => metadata.name !== 'admin-kubeconfig-client-ca');
  const { carryOut, writes } = await startSiteApi(t, others);
  await carryOut(MINIMAL);
  t.strictSame(writes().at(-1), `POST ${BUNDLES}`);
});

t.test('kubeadmin that was deleted is not made: nothing behind it is written', async (t) => {
  const { carryOut, writes, api } = await startSiteApi(
    t,
    INSTALLED.filter(({ metadata }) => metadata.name !== 'kubeadmin'),
  );
  const error = await thrownBy(carryOut(`${MINIMAL}kubeadmin_password_hash: ${PASSWORD}\n`));
  t.match(error, {
    kind: 'fatal',
    code: 'reconfigure-refused',
    message: /no user kubeadmin any more; expected the Secret kube-system\/kubeadmin.*found none/,
  });
  t.match(error, { message: /Remove kubeadmin_password_hash from the site configuration/ });
  t.strictSame(writes(), [
    `POST ${SECRETS}`,
    `POST ${SECRETS}`,
    'POST /api/v1/namespaces/openshift-ingress/secrets',
  ]);
  t.equal(api.get(KUBEADMIN), undefined);
});

for (const [name, what, more] of [
  [
    'pull-secret',
    'Secret openshift-config/pull-secret',
    `pull_secret: '{"auths":{"site.test":{"auth":"YTpi"}}}'\n`,
  ],
  ['default', 'IngressController default', ''],
] as const) {
  t.test(`an operator that has not made ${what} is waited for`, async (t) => {
    const { carryOut, api, state } = await startSiteApi(
      t,
      INSTALLED.filter(({ metadata }) => metadata.name !== name),
    );
    t.match(await thrownBy(carryOut(MINIMAL + more)), {
      kind: 'retry',
      message: `${what} does not exist`,
    });
    t.notOk(Object.keys(state()).some((path) => path.endsWith(`/${name}`)));
    const missing = INSTALLED.filter(({ metadata }) => metadata.name === name);
    for (const object of missing) api.set(placeOf(object), object);
    const [first] = await carryOut(MINIMAL + more);
    t.equal(first, what, 'the next attempt goes on there');
  });
}

for (const kind of ['Ingress', 'APIServer', 'Proxy'] as const) {
  t.test(`${kind} "cluster" that an operator has not made is waited for`, async (t) => {
    const others = INSTALLED.filter((each) => each.kind !== kind);
    const { carryOut, api } = await startSiteApi(t, others);
    const text = `${MINIMAL}allowRestart: true\nproxy: {httpProxy: "http://proxy.site.test:3128"}\n`;
    t.match(await thrownBy(carryOut(text)), {
      kind: 'retry',
      message: `${kind} cluster does not exist`,
    });
    for (const object of INSTALLED) if (object.kind === kind) api.set(placeOf(object), object);
    t.equal((await carryOut(text))[0], `${kind} cluster`);
  });
}
