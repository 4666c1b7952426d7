import { describeError } from '../../base/errors/failure.ts';
import { shortened, show, whyNotSigned, whyWeak } from './checks.ts';
import { type RequestedCertificate, readRequestedCertificate } from './requested-certificate.ts';

/** A name of a person, which the audit log shows; not one of Kubernetes or of the agents. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9@._-]{0,62}$/;

export const REQUEST = 'one PKCS#10 certificate request in PEM, signed with its own key';

/** Why no administrator's certificate is issued for a request, for people. */
export interface UnusableRequest {
  readonly expected: string;
  readonly found: string;
  readonly fix: string;
}

/**
 * Whom a host certifies as an administrator: the one rule of whoever makes, carries or signs such a request. Of the
 * request only the key and the common name are used.
 *
 * @param pem PKCS#10
 */
export function judgeAdministratorRequest(
  pem: string,
): { readonly commonName: string } | UnusableRequest {
  try {
    const request = readRequestedCertificate(pem);
    const found = whyUnproven(request);
    return found === undefined ? nameIn(request) : unusable(REQUEST, found);
  } catch (cause) {
    return unusable(REQUEST, describeError(cause));
  }
}

function whyUnproven(request: RequestedCertificate): string | undefined {
  if (!request.isAlone) return 'it is not one PEM block of a certificate request';
  const weak = whyWeak(request.key);
  if (weak !== undefined) return `its key: ${shortened(weak)}`;
  const signature = request.signature();
  return signature === 'valid' ? undefined : whyNotSigned(signature);
}

function nameIn({ subjectParts }: RequestedCertificate): { commonName: string } | UnusableRequest {
  const names = subjectParts.filter(([type]) => type === 'CN').map(([, value]) => value);
  const [name = ''] = names;
  if (names.length === 1 && NAME.test(name)) return { commonName: name };
  return unusable(
    'one common name (CN) of 1 to 63 letters, digits or "@._-"',
    shortened(show(names)),
  );
}

const unusable = (expected: string, found: string): UnusableRequest => ({
  expected,
  found,
  fix: 'Create it with "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout me.key -out me.csr -subj /CN=me".',
});
