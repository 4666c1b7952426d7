import { createPrivateKey, X509Certificate } from 'node:crypto';
import { judgeAdministratorRequest } from '../../cluster/csr/administrator-request.ts';
import { refused } from './refused.ts';
import { type SiteCredentials, VOLUME_FILES } from './volume.ts';

type Files = ReadonlyMap<string, Uint8Array>;

/** The files of a volume that tell who is administrator. */
export function credentialFiles(credentials: SiteCredentials): ReadonlyMap<string, Uint8Array> {
  const texts: Record<string, string> =
    credentials.kind === 'request'
      ? { [VOLUME_FILES.adminRequest]: credentials.request }
      : {
          [VOLUME_FILES.servingCa]: credentials.servingCa.certificate,
          [VOLUME_FILES.servingCaKey]: credentials.servingCa.key,
          [VOLUME_FILES.adminCa]: credentials.adminCa.certificate,
        };
  return new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
}

/** @throws Failure (usage, `site-volume-refused`) unless it has one kind of credentials, whole */
export function credentialsIn(files: Files, now: Date): SiteCredentials {
  const text = (path: string) => {
    const bytes = files.get(path);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
  };
  const request = text(VOLUME_FILES.adminRequest);
  const certificate = text(VOLUME_FILES.servingCa);
  const key = text(VOLUME_FILES.servingCaKey);
  const admin = text(VOLUME_FILES.adminCa);
  const isNone = certificate === undefined && key === undefined && admin === undefined;
  if (request !== undefined && isNone) {
    requireRequest(request);
    return { kind: 'request', request };
  }
  if (request !== undefined || certificate === undefined || key === undefined || !admin) {
    const { adminRequest, servingCa, servingCaKey, adminCa } = VOLUME_FILES;
    throw refused('the volume does not say who is administrator', {
      expected: `${adminRequest}, or ${servingCa}, ${servingCaKey} and ${adminCa}`,
      found: Object.values({ adminRequest, servingCa, servingCaKey, adminCa })
        .filter((path) => files.has(path))
        .join(', '),
    });
  }
  requireAuthority(VOLUME_FILES.servingCa, certificate, key, now);
  requireAuthority(VOLUME_FILES.adminCa, admin, undefined, now);
  return {
    kind: 'authorities',
    servingCa: { certificate, key },
    adminCa: { certificate: admin },
  };
}

function requireAuthority(
  path: string,
  certificate: string,
  key: string | undefined,
  now: Date,
): void {
  const found = problemOf(certificate, key, now);
  if (found === undefined) return;
  throw refused(`${path} cannot be used`, {
    expected: 'the certificate of an authority that is valid now, and its key',
    found,
  });
}

function problemOf(pem: string, key: string | undefined, now: Date): string | undefined {
  try {
    const certificate = new X509Certificate(pem);
    if (!certificate.ca) return 'a certificate that may not sign others';
    if (certificate.validToDate < now) return `one that ended on ${certificate.validTo}`;
    if (certificate.validFromDate > now) return `one that begins on ${certificate.validFrom}`;
    if (key === undefined || certificate.checkPrivateKey(createPrivateKey(key))) return undefined;
    return 'the key of another certificate';
  } catch {
    return 'what is no certificate or key in PEM';
  }
}

/** @throws Failure (usage, `site-volume-refused`), which calls it `name`, unless a node would certify it as its administrator's */
export function requireRequest(pem: string, name: string = VOLUME_FILES.adminRequest): void {
  const judged = judgeAdministratorRequest(pem);
  if ('commonName' in judged) return;
  const { expected, found, fix } = judged;
  throw refused(`${name} cannot be used`, {
    expected,
    found,
    fix: `Nothing was changed. ${fix}`,
  });
}
