import { x509 } from '../../../../lib/pki/x509.ts';

/** The valid request with one letter of the name changed after signing. */
export async function withForeignSignature(pem: string): Promise<string> {
  const der = Buffer.from(new x509.Pkcs10CertificateRequest(pem).rawData);
  der.write('S', der.lastIndexOf('sno.example.com'), 'latin1');
  return new x509.Pkcs10CertificateRequest(der).toString('pem');
}

/** The valid request with an additional value in the attribute that holds its extensions. */
export function twoValues() {
  const names = new x509.SubjectAlternativeNameExtension([
    { type: 'dns', value: 'sno.example.com' },
    { type: 'ip', value: '192.0.2.10' },
  ]);
  const { type, values } = new x509.ExtensionsAttribute([names]);
  return new x509.Attribute(type, [...values, ...values]);
}

/** The valid request with the signature algorithm of another kind of key. */
export function withUnknownSignature(pem: string): string {
  const der = Buffer.from(new x509.Pkcs10CertificateRequest(pem).rawData);
  const ecdsaWithSha256 = Buffer.from('2a8648ce3d040302', 'hex');
  der.write('2a8648ce3d040309', der.lastIndexOf(ecdsaWithSha256), 'hex');
  return new x509.Pkcs10CertificateRequest(der).toString('pem');
}
