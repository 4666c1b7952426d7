import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { schemaFaults } from '../../../lib/base/errors/schema-faults.ts';
import { readGoYaml } from '../../../lib/base/go-yaml/read.ts';
import { writeGoYaml } from '../../../lib/base/go-yaml/write.ts';
import { createSigningKey } from '../../../lib/pki/keys.ts';
import { encryptionConfigPath } from '../../../lib/render/kubernetes/encryption.ts';
import { serviceAccount } from '../../../lib/render/kubernetes/service-account.ts';
import { type ReadText, required } from '../../steps/certificates/authority-files.ts';
import type { FileChange, Staged } from '../../steps/certificates/changes.ts';

/**
 * A new key that signs service account tokens: the API server verifies with both before it signs
 * with the new one. Several public keys may be in one file.
 */
export async function stageServiceAccount(
  read: ReadText,
): Promise<Omit<Staged, 'schemaVersion' | 'id'>> {
  const old = await required(read, serviceAccount.publicKey);
  const { privateKey, publicKey } = await createSigningKey();
  const verify = (contents: string): FileChange[] => [
    { path: serviceAccount.publicKey, contents, mode: 0o644 },
  ];
  return {
    phases: {
      'trust-both': verify(`${old.trimEnd()}\n${publicKey}`),
      'use-new': [{ path: serviceAccount.privateKey, contents: privateKey, mode: 0o600 }],
      'trust-new': verify(publicKey),
    },
    retired: [],
  };
}

const keySchema = z.object({ name: z.string(), secret: z.string() });
const providerSchema = z.object({ secretbox: z.object({ keys: z.array(keySchema).min(1) }) });
const configurationSchema = z.looseObject({
  resources: z.tuple([
    z.looseObject({
      // What is not stored again, nobody can read without the old key.
      resources: z.tuple([z.literal('secrets')]),
      providers: z.tuple([providerSchema], providerSchema),
    }),
  ]),
});

type Provider = z.infer<typeof providerSchema>;

/**
 * A new key for Secrets, in the order of the Kubernetes documentation: the first key encrypts, all of
 * them decrypt. It is the second one, then the first one, then the only one. Providers that a restore
 * added for the keys of a backup decrypt until then.
 *
 * @throws Failure (fatal) if the file is neither as rendered nor as a restore left it.
 */
export async function stageEncryption(
  read: ReadText,
): Promise<Omit<Staged, 'schemaVersion' | 'id'>> {
  const parsed = configurationSchema.safeParse(
    readGoYaml(await required(read, encryptionConfigPath)),
  );
  if (!parsed.success) {
    throw new Failure('fatal', `${encryptionConfigPath} cannot be changed`, {
      expected: 'secretbox providers, for Secrets alone',
      found: schemaFaults(parsed.error),
    });
  }
  const [resource] = parsed.data.resources;
  const [{ secretbox }, ...others] = resource.providers;
  const old = secretbox.keys;
  const next = { name: nextName(resource.providers), secret: randomBytes(32).toString('base64') };
  const withProviders = (...providers: Provider[]): FileChange[] => [
    {
      path: encryptionConfigPath,
      contents: writeGoYaml({ ...parsed.data, resources: [{ ...resource, providers }] }),
      mode: 0o600,
    },
  ];
  return {
    phases: {
      'trust-both': withProviders({ secretbox: { keys: [...old, next] } }, ...others),
      'use-new': withProviders({ secretbox: { keys: [next, ...old] } }, ...others),
      'trust-new': withProviders({ secretbox: { keys: [next] } }),
    },
    retired: [],
  };
}

/** Each stored value has the name of its key, so no name is used again. */
function nextName(providers: readonly Provider[]): string {
  const names = providers.flatMap(({ secretbox }) => secretbox.keys);
  const numbers = names.map(({ name }) => Number(/^key(\d+)$/.exec(name)?.[1] ?? 0));
  return `key${Math.max(...numbers) + 1}`;
}
