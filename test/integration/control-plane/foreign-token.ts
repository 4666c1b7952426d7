import { createSign } from 'node:crypto';

/** The same claims and header, signed with another ECDSA key (ES256). */
export function serviceAccountToken(genuine: string, privateKey: string): string {
  const signed = genuine.split('.').slice(0, 2).join('.');
  const signature = createSign('sha256')
    .update(signed)
    .sign({ key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}
