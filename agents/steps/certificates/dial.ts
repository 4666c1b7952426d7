import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { parseJson } from '../../../lib/base/json.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';

/** A server of this host, and the authority (PEM) that its certificate is verified with. */
interface Server {
  readonly url: string;
  readonly ca: string;
  /** The name in its certificate, if that is not the host of the URL. */
  readonly name?: string | undefined;
}

/** A client's certificate and key, as PEM. */
export interface ClientIdentity {
  readonly certificate: string;
  readonly key: string;
}

const either = ({ signal, deadlineMs }: Limits) =>
  AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(deadlineMs))]);

/** The serial number, lower-case hex, of the certificate that a server presents to a new connection. */
export async function presentedSerial(
  { url, ca, name }: Server,
  client: ClientIdentity | undefined,
  limits: Limits,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    ca,
    ...(name === undefined ? {} : { servername: name }),
    ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
  });
  try {
    await once(socket, 'secureConnect', { signal: either(limits) });
    return socket.getPeerX509Certificate()?.serialNumber.toLowerCase() ?? 'none';
  } finally {
    socket.destroy();
  }
}

const reviewSchema = z.object({
  status: z.object({ userInfo: z.object({ username: z.string() }) }),
});

/**
 * The name by which the API server knows a client. `asked`: the client is a proxy that names this
 * user, which the API server believes only the front proxy.
 */
export async function apiUser(
  { url, ca }: Server,
  identity: ClientIdentity,
  asked: string | undefined,
  limits: Limits,
): Promise<string> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const proxied = asked === undefined ? {} : { 'x-remote-user': asked };
  const answer = await send(
    new URL(path, url),
    { ca },
    identity,
    { headers: { 'content-type': 'application/json', ...proxied }, body: JSON.stringify(body) },
    limits,
  );
  const review = reviewSchema.safeParse(parseJson(answer));
  if (review.success) return review.data.status.userInfo.username;
  throw new Failure('retry', 'the API server does not name the client', { found: answer });
}

/**
 * A request to etcd, which answers on a connection only if it accepts the client's certificate,
 * whether the request is HTTP or gRPC. Unlike its health, its version does not depend on its state.
 */
export async function etcdAnswer(
  { url, ca }: Server,
  own: ClientIdentity,
  limits: Limits,
): Promise<string> {
  await send(new URL('/version', url), { ca }, own, {}, limits);
  return 'etcd accepts it';
}

/**
 * A request to the kubelet as the API server makes them. The kubelet is not verified: its own
 * certificate may be the one that is missing, and the request contains nothing.
 */
export async function kubeletAnswer(
  url: string,
  own: ClientIdentity,
  limits: Limits,
): Promise<string> {
  await send(new URL('/healthz', url), { rejectUnauthorized: false }, own, {}, limits);
  return 'the kubelet accepts it';
}

/** The body of a successful answer to a request on a new connection; a POST if there is a body. */
async function send(
  url: URL,
  trust: { readonly ca: string } | { readonly rejectUnauthorized: false },
  { certificate, key }: ClientIdentity,
  { headers = {}, body }: { readonly headers?: OutgoingHttpHeaders; readonly body?: string },
  limits: Limits,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number; body: string }>();
  const method = body === undefined ? 'GET' : 'POST';
  const options = { method, agent: false, signal: either(limits), cert: certificate, key, headers };
  request(url, { ...options, ...trust }, (response) => {
    text(response).then((all) => resolve({ code: response.statusCode ?? 0, body: all }), reject);
  })
    .on('error', reject)
    .end(body);
  const answer = await promise;
  if (answer.code >= 200 && answer.code < 300) return answer.body;
  throw new Failure('retry', `${method} ${url.pathname} was refused`, {
    subject: String(answer.code),
    found: `status ${answer.code}: ${answer.body.slice(0, 200)}`,
  });
}
