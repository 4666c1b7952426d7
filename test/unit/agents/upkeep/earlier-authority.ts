import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Test } from 'tap';
import { z } from 'zod';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { certificatePem, type KeyPair } from '../../../../lib/pki/authority.ts';
import { parseCertificate } from '../../../../lib/pki/certificate.ts';
import { signingCryptoKey } from '../../../../lib/pki/keys.ts';
import { x509 } from '../../../../lib/pki/x509.ts';

/** The serving authority of an earlier release: it may not sign authorities. */
export async function earlierAuthority(): Promise<KeyPair> {
  const { key, certificate } = await createAuthority('kube-apiserver-serving-ca');
  const { subjectName, publicKey, notBefore, notAfter } = parseCertificate(certificate);
  const signed = await x509.X509CertificateGenerator.create({
    subject: subjectName,
    issuer: subjectName,
    notBefore,
    notAfter,
    publicKey,
    signingKey: signingCryptoKey(key),
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  return { key, certificate: certificatePem(signed) };
}

/** A pod of namespace shop that mounts a ConfigMap. `more`: further metadata and status. */
export const podOf = (
  name: string,
  configMap: string,
  ownerReferences: object[] = [],
  { status, ...metadata }: { status?: object; deletionTimestamp?: string } = {},
) => ({
  metadata: { name, namespace: 'shop', ownerReferences, ...metadata },
  status,
  spec: { volumes: [{ projected: { sources: [{ configMap: { name: configMap } }] } }] },
});

const statusSchema = z.object({ kind: z.literal('Status'), code: z.number() });

/** An object, or a Status with its code; undefined breaks the connection. */
export type Answer = () => object | undefined | Promise<object | undefined>;

/** For how long the certificate of a request's client is still valid; 0 without one. */
function leftOf({ socket }: IncomingMessage): number {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return certificate === undefined ? 0 : certificate.validToDate.getTime() - Date.now();
}

/**
 * An API server with a certificate of that authority, which answers by method and path, and `WATCH`
 * with the events. `longestMs`: for how long a client's certificate was still valid, at most. `selectors`: by which objects
 * were chosen, each once.
 */
export async function apiOf(
  t: Test,
  authority: KeyPair,
  answers: Readonly<Record<string, object | Answer>>,
): Promise<{
  readonly url: string;
  readonly requests: string[];
  readonly selectors: ReadonlySet<string>;
  longestMs(): number;
}> {
  const requests: string[] = [];
  const selectors = new Set<string>();
  const left: number[] = [];
  const { certificate, key } = await issueLeaf(authority, {
    subject: { commonName: 'api' },
    usage: 'server',
    ipAddresses: ['127.0.0.1'],
  });
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://x');
    const isWatch = searchParams.get('watch') === 'true';
    const name = `${isWatch ? 'WATCH' : request.method} ${pathname}`;
    requests.push(name);
    left.push(leftOf(request));
    for (const kind of ['labelSelector', 'fieldSelector']) {
      const selector = searchParams.get(kind);
      if (selector !== null) selectors.add(`${pathname} ${selector}`);
    }
    const given = answers[name] ?? { kind: 'Status', code: 404 };
    const answer: unknown = await (typeof given === 'function' ? given() : given);
    if (answer === undefined) return void request.destroy();
    if (isWatch && Array.isArray(answer)) {
      response.writeHead(200);
      for (const event of answer) response.write(`${JSON.stringify(event)}\n`);
      return;
    }
    const status = statusSchema.safeParse(answer);
    response.writeHead(status.data?.code ?? 200).end(JSON.stringify(answer));
  };
  const server = createServer(
    { cert: certificate, key, requestCert: true, rejectUnauthorized: false },
    (request, response) => void respond(request, response),
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const longestMs = () => Math.max(...left);
  return { url: `https://127.0.0.1:${address.port}`, requests, selectors, longestMs };
}
