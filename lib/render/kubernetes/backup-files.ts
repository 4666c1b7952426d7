import { authorityNames, authorityPaths } from './authorities.ts';
import { encryptionConfigPath } from './encryption.ts';
import { serviceAccount } from './service-account.ts';

/** Without these files of a host, a snapshot of its database cannot be used. A backup has copies of them, and of no others. */
export const backupFiles: readonly string[] = [
  ...authorityNames.flatMap((name) => {
    const { certificate, key } = authorityPaths(name);
    return [certificate, key];
  }),
  serviceAccount.privateKey,
  serviceAccount.publicKey,
  encryptionConfigPath,
];
