import { createPrivateKey, X509Certificate } from 'node:crypto';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { requestClientCertificate } from '../../../../lib/clients/kube/client-certificate.ts';
import { certifyKey } from '../../../../lib/pki/leaf.ts';
import { x509 } from '../../../../lib/pki/x509.ts';
import { type FakeApi, refusal, startFakeApi } from './fake-api.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const subject = { commonName: 'system:admin', organizations: ['sno:administrators'] };
const authority = await createAuthority('admin-ca');
const limits = (deadlineMs = 60_000) => ({ signal: AbortSignal.timeout(60_000), deadlineMs });

const bodySchema = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    request: z.base64(),
    signerName: z.string(),
    usages: z.array(z.string()),
  }),
  status: z
    .looseObject({ conditions: z.array(z.looseObject({ type: z.string() })).optional() })
    .optional(),
});
type Body = z.infer<typeof bodySchema>;

const certify = (
  request: Body,
  profile: Partial<Parameters<typeof certifyKey>[2]> = {},
): Promise<string> => {
  const pem = Buffer.from(request.spec.request, 'base64').toString();
  const key = new x509.Pkcs10CertificateRequest(pem).publicKey;
  const now = new Date();
  return certifyKey(
    authority,
    key,
    { subject, usage: 'client', ...profile },
    { now, validFrom: now },
  );
};

/** A controller-manager: once a request is approved, it has that status beside the condition. */
function signs(api: FakeApi, status: (request: Body) => Promise<object> | object): void {
  api.rule(async ({ method, path, body }) => {
    if (method !== 'PUT' || !path.endsWith('/approval')) return undefined;
    const request = bodySchema.parse(body);
    const conditions = request.status?.conditions ?? [];
    const signed = { ...request, status: { conditions, ...(await status(request)) } };
    setImmediate(() => api.set(`${REQUESTS}/${request.metadata.name}`, signed));
    return { code: 200, body: request };
  });
}

const certificate = (pem: string) => ({ certificate: Buffer.from(pem).toString('base64') });
const condition = (type: string) => ({
  conditions: [{ type, status: 'True', reason: 'Policy', message: 'not today' }],
});

const left = async (t: Test, api: FakeApi) => {
  const removed = api.requests.filter(({ method }) => method === 'DELETE');
  t.equal(removed.length, 1, 'the request is deleted');
};

t.test('a certificate for a key that stays here', async (t) => {
  const { api, client } = await startFakeApi(t);
  let sent: Body | undefined;
  signs(api, async (request) => {
    sent = request;
    return certificate(await certify(request));
  });
  const signed = await requestClientCertificate(client, subject, limits());
  t.match(sent, {
    metadata: { name: /^sno-administrator-[0-9a-f]{10}$/ },
    spec: {
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature', 'client auth'],
    },
    status: { conditions: [{ type: 'Approved', status: 'True' }] },
  });
  const key = createPrivateKey(signed.key);
  t.ok(new X509Certificate(signed.certificate).checkPrivateKey(key));
  t.match(key.asymmetricKeyDetails, { namedCurve: 'prime256v1' });
  await left(t, api);
  t.notMatch(JSON.stringify(api.requests.map(({ body }) => body)), /PRIVATE/);
});

const HOSTILE: readonly [
  what: string,
  status: (request: Body) => Promise<object> | object,
  found: RegExp,
][] = [
  ['denied', () => condition('Denied'), /Denied: Policy, not today/],
  ['failed', () => condition('Failed'), /Failed: Policy/],
  [
    'for another key',
    async () => certificate((await issueLeaf(authority, { subject, usage: 'client' })).certificate),
    /for another key/,
  ],
  [
    'for another user',
    async (request) =>
      certificate(await certify(request, { subject: { ...subject, commonName: 'system:other' } })),
    /another subject/,
  ],
  [
    'for other groups',
    async (request) =>
      certificate(await certify(request, { subject: { ...subject, organizations: [] } })),
    /another subject/,
  ],
  [
    'for servers',
    async (request) => certificate(await certify(request, { usage: 'server' })),
    /not for a client/,
  ],
  ['no certificate', () => certificate('nothing'), /no certificate/],
  [
    'damaged',
    () => certificate('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
    /cannot be parsed/,
  ],
];

for (const [what, status, found] of HOSTILE) {
  t.test(`a certificate that is ${what} is not used`, async (t) => {
    const { api, client } = await startFakeApi(t);
    signs(api, status);
    await t.rejects(requestClientCertificate(client, subject, limits()), {
      kind: 'fatal',
      message: found,
    });
    await left(t, api);
  });
}

t.test('a request that is never signed', async (t) => {
  const { api, client } = await startFakeApi(t);
  await t.rejects(requestClientCertificate(client, subject, limits(200)), {
    kind: 'deadline',
    message: /the cluster to sign the request sno-administrator-/,
  });
  await left(t, api);
});

t.test('a request that another program changes in between is approved anew', async (t) => {
  const { api, client } = await startFakeApi(t);
  let conflicts = 2;
  signs(api, async (request) => certificate(await certify(request)));
  api.rule(({ path }) =>
    path.endsWith('/approval') && conflicts-- > 0
      ? refusal(409, { reason: 'Conflict' })
      : undefined,
  );
  t.match(await requestClientCertificate(client, subject, limits()), {
    certificate: /^-----BEGIN CERTIFICATE/,
  });
});

for (const [what, method] of [
  ['the request', 'POST'],
  ['the approval', 'PUT'],
] as const) {
  t.test(`${what} is refused, or the API server is gone`, async (t) => {
    const { api, client } = await startFakeApi(t);
    let reply: 'cut' | 'refuse' = 'refuse';
    api.rule((request) => {
      if (request.method !== method) return undefined;
      return reply === 'cut' ? 'cut' : refusal(403, { reason: 'Forbidden', message: 'no' });
    });
    await t.rejects(requestClientCertificate(client, subject, limits()), { code: 403 });
    reply = 'cut';
    await t.rejects(requestClientCertificate(client, subject, limits()), {
      message: /: socket hang up/,
    });
  });
}
