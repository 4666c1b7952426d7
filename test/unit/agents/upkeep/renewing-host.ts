import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { Test } from 'tap';
import type { RenewContext } from '../../../../agents/steps/certificates/context.ts';
import { issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import type { Settings } from '../../../../lib/host/settings.ts';
import { inspectCertificate } from '../../../../lib/pki/certificate.ts';
import {
  type AuthorityName,
  authorityPaths,
} from '../../../../lib/render/kubernetes/authorities.ts';
import { issuedLeaves, renewableLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { listening } from '../../clients/kube/listening.ts';
import { textAt } from '../../render/rendered-host.ts';
import { type TestHost, testHost } from '../host/host.ts';

const DAY_MS = 86_400_000;
const { apiServerServing, etcdPeer } = issuedLeaves;

/** What its servers do; may be changed at any time. */
export interface Behaviour {
  /** Whether a server reads its certificate for each connection, or keeps the first one. */
  reloads: boolean;
  /** The status with which the API server answers this user; 201 by default. */
  status?: (user: string) => number;
  /** Name of each user, as the API server reports it. */
  named?: (user: string) => string;
  /** Called before each answer of the API server. */
  onRequest?: (user: string) => void | Promise<void>;
}

export interface RenewingHost {
  readonly host: TestHost;
  readonly context: RenewContext;
  readonly behaviour: Behaviour;
  /** Users of the API server and of the kubelet, in the order of their requests. */
  readonly users: string[];
  /** Replaces a leaf by one of that age, as issued with a lifetime of 365 days. */
  age(name: string, days: number): Promise<void>;
  serial(name: string): string;
}

/**
 * An installed host with rendered certificates, and servers with its serving certificate and
 * etcd's peer certificate. etcd itself is not among them, so its client's leaf must not be due.
 */
export async function renewingHost(
  t: Test,
  settings: Partial<Settings> = {},
): Promise<RenewingHost> {
  const behaviour: Behaviour = { reloads: true };
  const users: string[] = [];
  const read = (path: string) => host.read(path);
  const answer = (request: IncomingMessage, response: ServerResponse) =>
    void answerAs(behaviour, users, request, response);
  const files = (leaf: typeof apiServerServing | typeof etcdPeer) => () => ({
    cert: read(leaf.certificate),
    key: read(leaf.key),
  });
  const clients = (['admin', 'front-proxy', 'etcd'] as const).map(authorityText);
  const api = await serve(t, files(apiServerServing), clients, behaviour, answer);
  const peer = await serve(t, files(etcdPeer), clients, behaviour, answer);
  const host: TestHost = testHost(t, {
    settings: { renewProofMs: 60_000, servingRequestMs: 60_000, ...settings },
    endpoints: {
      api: api.url,
      kubelet: api.url,
      etcd: peer.url,
      etcdPeer: peer.url,
    },
  });
  for (const { certificate, key } of renewableLeaves) {
    host.write(certificate, textAt(certificate));
    host.write(key, textAt(key), 0o600);
  }
  for (const name of ['admin', 'front-proxy', 'etcd', 'serving'] as const) {
    const { certificate, key } = authorityPaths(name);
    host.write(certificate, textAt(certificate));
    host.write(key, textAt(key), 0o600);
  }
  api.open();
  peer.open();
  const leafOf = (name: string) => {
    const leaf = Object.values(issuedLeaves).find((one) => one.name === name);
    if (leaf === undefined) throw new Error(`no leaf ${name}`);
    return leaf;
  };
  return {
    host,
    context: { ...host.context, run: 'first' },
    behaviour,
    users,
    async age(name, days) {
      const { certificate, key, authority, subject, usage } = leafOf(name);
      const { dnsNames, ipAddresses } = inspectCertificate(textAt(certificate));
      const signer = authorityPair(authority);
      const then = new Date(Date.now() - days * DAY_MS);
      const aged = await issueLeaf(signer, { subject, usage, dnsNames, ipAddresses }, then);
      host.write(certificate, aged.certificate);
      host.write(key, aged.key, 0o600);
    },
    serial: (name) => inspectCertificate(read(leafOf(name).certificate)).serialNumber,
  };
}

const authorityText = (name: AuthorityName) => textAt(authorityPaths(name).certificate);
const authorityPair = (name: AuthorityName) => ({
  certificate: authorityText(name),
  key: textAt(authorityPaths(name).key),
});

/** A server of 127.0.0.1 that listens before it has a certificate; `open` gives it the first one. */
async function serve(
  t: Test,
  pair: () => { readonly cert: string; readonly key: string },
  ca: string[],
  behaviour: Behaviour,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const server: Server = createServer(
    { ca, requestCert: true, rejectUnauthorized: false },
    listener,
  );
  server.prependListener('connection', () => {
    if (behaviour.reloads) server.setSecureContext({ ...pair(), ca });
  });
  const port = await listening(t, server);
  return {
    url: `https://127.0.0.1:${port}`,
    open: () => server.setSecureContext({ ...pair(), ca }),
  };
}

/** SelfSubjectReview as the API server answers it, and the kubelet's /healthz. */
async function answerAs(
  { status, named, onRequest }: Behaviour,
  users: string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { socket, url, headers } = request;
  const peer = socket instanceof TLSSocket && socket.authorized ? socket.getPeerCertificate() : {};
  const client = nameOf(peer);
  const proxied = headers['x-remote-user'];
  const user = client === 'front-proxy-client' && typeof proxied === 'string' ? proxied : client;
  users.push(`${user} ${url}`);
  await onRequest?.(user);
  const code = status?.(user) ?? (user === 'nobody' ? 401 : 201);
  const username = named?.(user) ?? user;
  const body = url === '/healthz' ? 'ok' : JSON.stringify({ status: { userInfo: { username } } });
  response.writeHead(code).end(code < 300 ? body : 'refused by the test');
}

const nameOf = ({ subject }: Partial<DetailedPeerCertificate>): string => {
  const name: unknown = subject?.CN;
  return typeof name === 'string' ? name : 'nobody';
};
