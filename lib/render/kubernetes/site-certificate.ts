import type { Cluster } from '../../config/cluster/cluster.ts';
import type { NewFile } from '../../host/files.ts';
import type { KeyPair } from '../../pki/authority.ts';
import { certificatesIn } from '../../pki/certificate.ts';
import { paths } from './paths.ts';

const folder = paths.pkiOf('kube-apiserver');

/** The certificate that a site gave for the API, with its chain, and its key. Only the site replaces it. */
export const siteCertificate = {
  certificate: `${folder}/site-api.crt`,
  key: `${folder}/site-api.key`,
} as const;

/** Both files, by their paths on the host. */
export const siteCertificateFiles = ({ certificate, key }: KeyPair): NewFile[] => [
  // Nothing else of the text: a key may be in it, and everybody may read this file.
  {
    path: siteCertificate.certificate,
    contents: certificatesIn(certificate).join(''),
    mode: 0o644,
  },
  { path: siteCertificate.key, contents: key, mode: 0o600 },
];

/**
 * The API server shows it to whoever asks for this name, and its own to all others. The name is written out: those of the
 * certificate would include whatever else it is for, such as a name that the host uses itself.
 */
export const siteCertificateFlag = ({ apiCertificateName }: Pick<Cluster, 'apiCertificateName'>) =>
  apiCertificateName === undefined
    ? {}
    : {
        'tls-sni-cert-key': `${siteCertificate.certificate},${siteCertificate.key}:${apiCertificateName}`,
      };
