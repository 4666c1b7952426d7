import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { type ConnectionOptions, connect, TLSSocket } from 'node:tls';
import { describeError } from '../../base/errors/failure.ts';
import { readDocument } from '../../config/file/document.ts';
import { misfitFault } from '../../config/file/misfit-fault.ts';
import { refusal } from '../../config/site-config/read.ts';
import { type SiteConfig, siteDomain } from '../../config/site-config/site-config.ts';
import type { KeyPair } from '../../pki/authority.ts';
import { certificatesIn } from '../../pki/certificate.ts';

/** Whom a client has to trust: the last certificate of the chain, which need not be that of a root. PEM. */
export const chainAnchor = (chain: string): string => certificatesIn(chain).at(-1) ?? '';

/** How the node verifies what its API, or its router, shows for a name. @param ca PEM; not necessarily a root */
export const verification = (servername: string, ca: string): ConnectionOptions => ({
  servername,
  ca,
  rejectUnauthorized: true,
  allowPartialTrustChain: true,
});

/** Both ends are in this process. */
const HANDSHAKE_MS = 10_000;
/** Of OpenSSL: the time of this clock, which the rules for dates judge with the volume's. */
const OF_TIME = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];

/** A certificate that no client of the site would accept. */
interface RefusedCertificate {
  readonly which: 'api' | 'ingress';
  readonly found: string;
}

/** The certificates of a site that the node would refuse once they are in use, such as one that is signed with SHA-1. */
async function refusedCertificates(site: SiteConfig): Promise<RefusedCertificate[]> {
  const domain = siteDomain(site);
  const names = { api: `api.${domain}`, ingress: `console-openshift-console.apps.${domain}` };
  const refused: RefusedCertificate[] = [];
  for (const which of ['api', 'ingress'] as const) {
    const pair = site.certificates[which];
    const found = pair === undefined ? undefined : await whyRefused(pair, names[which]);
    if (found !== undefined) refused.push({ which, found });
  }
  return refused;
}

/** A handshake as the node makes it at the end of its reconfiguration, with a server in this process. */
async function whyRefused(
  { certificate, key }: KeyPair,
  name: string,
): Promise<string | undefined> {
  const [near, far] = duplexPair();
  // Go's server, which will show it, is not particular about what it shows.
  const lenient = { ciphers: 'DEFAULT@SECLEVEL=0', maxVersion: 'TLSv1.2' } as const;
  const server = new TLSSocket(far, { isServer: true, cert: certificate, key, ...lenient });
  server.on('error', () => {});
  const client = connect({ socket: near, ...verification(name, chainAnchor(certificate)) });
  try {
    await once(client, 'secureConnect', { signal: AbortSignal.timeout(HANDSHAKE_MS) });
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return OF_TIME.some((each) => each === code) ? undefined : describeError(error);
  } finally {
    client.destroy();
    server.destroy();
  }
}

/**
 * Tries the certificates of a configuration as the node will once they are in use.
 *
 * @param text of the configuration, which `file` is called
 * @throws Failure (usage, `site-config-refused`) with each that the node would refuse
 */
export async function requireAcceptedCertificates(
  config: SiteConfig,
  text: string,
  file: string,
): Promise<void> {
  const document = readDocument(text);
  const faults = (await refusedCertificates(config)).map(({ which, found }) =>
    misfitFault(
      {
        path: ['certificates', which, 'certificate'],
        expected: 'one that clients accept, as all its issuers',
        found: `one that they refuse: ${found}`,
        fix: 'Let the authority issue another one, for servers, signed with SHA-256 or better.',
      },
      document,
    ),
  );
  if (faults.length > 0) throw refusal(faults, file);
}
