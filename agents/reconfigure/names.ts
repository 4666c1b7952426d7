import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type PeerCertificate } from 'node:tls';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { type Family, familyOf } from '../../lib/base/network/address.ts';
import { siteDomain } from '../../lib/config/site-config/site-config.ts';
import { done } from '../../lib/engine/steps/step.ts';
import { hostAddresses } from '../../lib/host/network.ts';
import { chainAnchor, verification } from '../../lib/relocation/site-volume/shown-certificate.ts';
import { authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { apiPort } from '../../lib/render/kubernetes/paths.ts';
import { presentInput } from './context.ts';
import type { SiteStep } from './or-back.ts';

const ANSWER_MS = 10_000;

/** Proves the names by dialling them: at each address of the host, the API shows the certificate of its name at this site. */
export const renameAtSite: SiteStep = {
  name: 'names',
  leaves: "an API that shows the site's certificate at each address of the host",
  touches: ['network', 'api'],
  neededUntil: 'confirm',
  holds: async () => true,
  async run(context, { signal }) {
    const { paths, site } = context;
    const given = site.certificates.api?.certificate;
    const ca =
      given === undefined
        ? await readFile(paths.at(authorityPaths('serving').certificate), 'utf8')
        : chainAnchor(given);
    const name = `api.${siteDomain(site)}`;
    const { nodeIps } = (await presentInput(context)).host;
    return done(await dialled([{ name, port: apiPort, given, ca }], signal, nodeIps.map(familyOf)));
  },
};

/** A name that has to show a certificate of the site. */
export interface Dialled {
  readonly name: string;
  readonly port: number;
  /** The certificate that the site gave, PEM; undefined: any that the authority has signed. */
  readonly given: string | undefined;
  /** PEM; not necessarily a root. */
  readonly ca: string;
}

/**
 * Dials each name at each address of the host. Returns what was dialled, as a phrase.
 *
 * @param families those that the cluster serves: a site may give the host addresses of others, too
 * @throws Failure (retry, site-name) with the first that does not show its certificate
 */
export async function dialled(
  all: readonly Dialled[],
  signal: AbortSignal,
  families: readonly Family[] = ['IPv4', 'IPv6'],
): Promise<string> {
  const own = (await hostAddresses(signal)).map(({ address }) => address);
  // A host of IPv6 alone has this one too.
  const addresses = ['127.0.0.1', ...own.filter((each) => families.includes(familyOf(each)))];
  for (const { name, port, given, ca } of all) {
    for (const host of addresses) {
      await shownAs(given, { host, port, servername: name, ca }, signal).catch((cause: unknown) => {
        throw new Failure('retry', `${name} does not show its certificate at ${host}`, {
          code: 'site-name',
          found: describeError(cause),
          cause,
        });
      });
    }
  }
  return `${all.map(({ name }) => name).join(', ')} at ${addresses.join(', ')}`;
}

interface Server {
  readonly host: string;
  readonly port: number;
  readonly servername: string;
  /** PEM; not necessarily a root. */
  readonly ca: string;
}

/** Whether it shows the certificate that the site gave, if it gave one: an earlier one may be of the same authority. */
export async function shownAs(
  given: string | undefined,
  server: Server,
  signal: AbortSignal,
): Promise<void> {
  const { fingerprint256 } = await shownNames(server, signal);
  if (given === undefined || fingerprint256 === new X509Certificate(given).fingerprint256) return;
  throw new Failure('retry', 'the server shows another certificate', {
    expected: `that of the site, SHA-256 ${new X509Certificate(given).fingerprint256}`,
    found: fingerprint256,
  });
}

/** The certificate that a server shows for a name, which the authority has signed. */
export async function shownNames(
  { host, port, servername, ca }: Server,
  signal: AbortSignal,
): Promise<PeerCertificate> {
  const socket = connect({ host, port, ...verification(servername, ca) });
  try {
    const either = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    await once(socket, 'secureConnect', { signal: either });
    return socket.getPeerCertificate();
  } finally {
    socket.destroy();
  }
}
