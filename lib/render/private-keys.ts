import { publicKeyFingerprint } from '../pki/keys.ts';

const pem = /-----BEGIN ((?:[A-Z]+ )?PRIVATE KEY)-----(?:(?!-----)[\s\S])+-----END \1-----/g;
/** What PEM in base64 begins with, as in Secrets and kubeconfigs. */
const encodedPem = /LS0tLS1CRUdJTi[A-Za-z0-9+/]+={0,2}/g;

/** Fingerprints of the private keys in a text: in PEM, directly or in base64, each once. */
export function keyFingerprintsIn(text: string): string[] {
  const decoded = [...text.matchAll(encodedPem)].map(([base64]) =>
    Buffer.from(base64, 'base64').toString('utf8'),
  );
  const keys = [text, ...decoded].flatMap((each) => [...each.matchAll(pem)].map(([key]) => key));
  return [...new Set(keys.map(publicKeyFingerprint))];
}
