import { createSuccessor } from '../../lib/pki/authority.ts';
import { createAuthority, issueLeaf } from '../certificates/signed-now.ts';

const PATHS = { certificate: 'certificates/api.crt', key: 'certificates/api.key' } as const;

/** A certificate of an authority of the site below a root that is not sent, as files of a volume and the field that names them. */
export async function siteCertificate(name: string) {
  const root = await createAuthority('site');
  const { cross = '', ...issuer } = await createSuccessor(root, new Date());
  const profile = { subject: { commonName: name }, usage: 'server', dnsNames: [name] } as const;
  const { certificate, key } = await issueLeaf(issuer, profile);
  return {
    config: { certificates: { api: PATHS } },
    files: { [PATHS.certificate]: certificate + cross, [PATHS.key]: key },
  };
}
