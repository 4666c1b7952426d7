import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { type Cluster, clusterDomain } from '../../../lib/cluster/cluster.ts';
import { whyNotSigned, whyWeak } from '../../../lib/csr/checks.ts';
import {
  type RequestedCertificate,
  readRequestedCertificate,
} from '../../../lib/csr/requested-certificate.ts';
import { describeError, Failure } from '../../../lib/errors/failure.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { requireValid } from '../../../lib/pki/authority.ts';
import { inspectCertificate } from '../../../lib/pki/certificate.ts';
import { administrators, kubeconfig } from '../../../lib/pki/kubeconfig.ts';
import { certifyKey } from '../../../lib/pki/leaf.ts';
import { x509 } from '../../../lib/pki/x509.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { readAuthority } from '../../steps/leaf-files.ts';

/** How long an administrator's certificate is valid: it cannot be revoked. */
export const ADMINISTRATOR_DAYS = { default: 30, maximum: 365 } as const;

/** A name of a person, which the audit log shows; not one of Kubernetes or of the agents. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9@._-]{0,62}$/;

export interface IssuedAdministrator {
  /** With the certificate, and the path of the key that the requestor has. */
  readonly kubeconfig: string;
  /** One sentence for the journal: who, until when, serial number. */
  readonly record: string;
}

/**
 * Issues an administrator's certificate for a request: its key stays with whoever made it. Of the
 * request only the key and the common name are used.
 *
 * @param path PKCS#10 request, PEM.
 * @throws Failure (usage) naming the file and what is wrong with it; as requireValid.
 */
export async function issueAdministrator(
  paths: HostPaths,
  cluster: Cluster,
  { path, days, now }: { readonly path: string; readonly days: number; readonly now: Date },
): Promise<IssuedAdministrator> {
  const { pem, commonName } = await readRequest(path);
  const authority = await readAuthority(paths, 'admin');
  requireValid(authority.certificate, now);
  const certificate = await certifyKey(
    authority,
    new x509.Pkcs10CertificateRequest(pem).publicKey,
    {
      subject: { commonName, organizations: [administrators] },
      usage: 'client',
      lifetimeDays: days,
    },
    now,
  );
  const { serialNumber, notAfter } = inspectCertificate(certificate);
  return {
    kubeconfig: kubeconfig({
      server: `https://api.${clusterDomain(cluster)}:6443`,
      cluster: cluster.name,
      user: commonName,
      credentials: {
        kind: 'own-key',
        authority: await readFile(paths.at(authorityPaths('serving').certificate), 'utf8'),
        certificate,
        key: `${basename(path, extname(path))}.key`,
      },
    }),
    record: `Issued a certificate with all rights in the cluster for ${commonName}, valid until ${notAfter.toISOString()}, serial number ${serialNumber}`,
  };
}

async function readRequest(path: string): Promise<{ pem: string; commonName: string }> {
  const pem = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw unusable(path, describeError(cause));
  });
  const request = parsed(path, pem);
  const { isAlone, signature, key } = request;
  if (!isAlone) throw unusable(path, 'it is not one PEM block of a certificate request');
  if (signature !== 'valid') throw unusable(path, whyNotSigned(signature));
  const weak = whyWeak(key);
  if (weak !== undefined) throw unusable(path, `its key: ${weak}`);
  return { pem, commonName: commonNameOf(path, request) };
}

function parsed(path: string, pem: string): RequestedCertificate {
  try {
    return readRequestedCertificate(pem);
  } catch (cause) {
    throw unusable(path, describeError(cause));
  }
}

function commonNameOf(path: string, { subjectParts }: RequestedCertificate): string {
  const names = subjectParts.filter(([type]) => type === 'CN').map(([, value]) => value);
  const [name = ''] = names;
  if (names.length === 1 && NAME.test(name)) return name;
  throw new Failure('usage', `the request ${path} cannot be used`, {
    expected: 'one common name (CN) of 1 to 63 letters, digits or "@._-"',
    found: names.length === 0 ? 'none' : names.join(', '),
    fix: `Create it with "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout me.key -out me.csr -subj /CN=me".`,
  });
}

const unusable = (path: string, found: string): Failure =>
  new Failure('usage', `the request ${path} cannot be used`, {
    expected: 'one PKCS#10 certificate request in PEM',
    found,
  });
