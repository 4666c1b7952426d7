import { randomBytes } from 'node:crypto';
import { writeGoYaml } from '../../base/go-yaml/write.ts';
import type { RenderedFile } from '../renderer.ts';
import { keyFile } from './files.ts';
import { paths } from './paths.ts';

export const encryptionConfigPath = `${paths.configOf('kube-apiserver')}/encryption.yaml`;

/**
 * Secrets are encrypted in etcd, and therefore in every snapshot. There is no `identity`
 * provider: plaintext was never written, so it is never read.
 */
export function encryptionFile(): RenderedFile {
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets'],
        providers: [
          // XSalsa20-Poly1305; the alternatives are weaker (CBC) or need frequent rotation (GCM).
          { secretbox: { keys: [{ name: 'key1', secret: randomBytes(32).toString('base64') }] } },
        ],
      },
    ],
  };
  return keyFile(encryptionConfigPath, writeGoYaml(configuration), 'permanent');
}
