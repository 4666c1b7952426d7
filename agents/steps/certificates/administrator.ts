import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import {
  judgeAdministratorRequest,
  REQUEST,
  type UnusableRequest,
} from '../../../lib/cluster/csr/administrator-request.ts';
import { type Cluster, clusterDomain } from '../../../lib/config/cluster/cluster.ts';
import { readSmallFile } from '../../../lib/host/given-file.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type KeyPair, requireValid } from '../../../lib/pki/authority.ts';
import { inspectCertificate, validityOf } from '../../../lib/pki/certificate.ts';
import { administrators, kubeconfig } from '../../../lib/pki/kubeconfig.ts';
import { certifyKey } from '../../../lib/pki/leaf.ts';
import { x509 } from '../../../lib/pki/x509.ts';
import { chainAnchor } from '../../../lib/relocation/site-volume/shown-certificate.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { siteCertificate } from '../../../lib/render/kubernetes/site-certificate.ts';
import { readSigner } from '../leaf-files.ts';

/** How long an administrator's certificate is valid: it cannot be revoked. */
export const ADMINISTRATOR_DAYS = { default: 30, maximum: 365 } as const;

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
  const authorities = {
    admin: await readSigner(paths, 'admin'),
    serving: await trustedForApi(paths, cluster),
  };
  return certifyAdministrator(authorities, cluster, { path, days, now });
}

/** With the anchor of the certificate that the site gave for the name of the API, if it is that still. */
async function trustedForApi(paths: HostPaths, cluster: Cluster): Promise<string> {
  const own = await readFile(paths.at(authorityPaths('serving').certificate), 'utf8');
  if (cluster.apiCertificateName !== `api.${clusterDomain(cluster)}`) return own;
  return own + chainAnchor(await readFile(paths.at(siteCertificate.certificate), 'utf8'));
}

/** The same with authorities that are not those of the host's files; `serving` is a certificate. */
export async function certifyAdministrator(
  { admin: authority, serving }: { readonly admin: KeyPair; readonly serving: string },
  cluster: Pick<Cluster, 'name' | 'baseDomain'>,
  { path, days, now }: { readonly path: string; readonly days: number; readonly now: Date },
): Promise<IssuedAdministrator> {
  const { pem, commonName } = await readRequest(path);
  requireValid(authority.certificate, now);
  // Nobody signs it again once a fast clock is right.
  const { notBefore: validFrom } = validityOf(authority.certificate);
  const certificate = await certifyKey(
    authority,
    new x509.Pkcs10CertificateRequest(pem).publicKey,
    {
      subject: { commonName, organizations: [administrators] },
      usage: 'client',
      lifetimeDays: days,
    },
    { now, validFrom },
  );
  const { serialNumber, notAfter } = inspectCertificate(certificate);
  return {
    kubeconfig: kubeconfig({
      server: `https://api.${clusterDomain(cluster)}:6443`,
      cluster: cluster.name,
      user: commonName,
      credentials: {
        kind: 'own-key',
        authority: serving,
        certificate,
        key: `${basename(path, extname(path))}.key`,
      },
    }),
    record: `Issued a certificate with all rights in the cluster for ${commonName}, valid until ${notAfter.toISOString()}, serial number ${serialNumber}`,
  };
}

async function readRequest(path: string): Promise<{ pem: string; commonName: string }> {
  // No pipe: the kubeconfig gets the name of the key from that of the file.
  const pem = await readSmallFile(path, '--csr');
  const judged = judgeAdministratorRequest(pem);
  if ('commonName' in judged) return { pem, commonName: judged.commonName };
  throw unusable(path, judged);
}

const unusable = (path: string, fault: Pick<UnusableRequest, 'found'> & Partial<UnusableRequest>) =>
  new Failure('usage', `the request ${path} cannot be used`, { expected: REQUEST, ...fault });
