import { webcrypto } from 'node:crypto';
import { x509 } from '../../lib/pki/x509.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** The request (PEM) of a kubelet for its serving certificate. */
export async function servingRequest(nodeName: string, address: string): Promise<Buffer> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: new x509.Name([{ O: ['system:nodes'] }, { CN: [`system:node:${nodeName}`] }]),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: nodeName },
        { type: 'ip', value: address },
      ]),
    ],
  });
  return Buffer.from(`${request.toString('pem')}\n`);
}
