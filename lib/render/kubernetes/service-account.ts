import { createSigningKey } from '../../pki/keys.ts';
import type { RenderedFile } from '../renderer.ts';
import { keyFile, publicFile } from './files.ts';
import { paths } from './paths.ts';

/** The key pair that signs service account tokens, and their issuer. */
export const serviceAccount = {
  privateKey: `${paths.serviceAccount}/service-account.key`,
  publicKey: `${paths.serviceAccount}/service-account.pub`,
  issuer: 'https://kubernetes.default.svc',
} as const;

export async function serviceAccountFiles(): Promise<RenderedFile[]> {
  const { privateKey, publicKey } = await createSigningKey();
  return [
    keyFile(serviceAccount.privateKey, privateKey, 'permanent'),
    publicFile(serviceAccount.publicKey, publicKey),
  ];
}
