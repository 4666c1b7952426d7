import { z } from 'zod';
import { readGoYaml } from '../../../lib/base/go-yaml/read.ts';
import { writeGoYaml } from '../../../lib/base/go-yaml/write.ts';

/** An EncryptionConfiguration, as far as it is needed here; everything else is kept. */
const configurationSchema = z.looseObject({
  resources: z.tuple([z.looseObject({ providers: z.array(z.looseObject({})) })]),
});

/**
 * The present configuration with the providers of another one behind its own: the API server writes
 * with the first, and reads with all (apiserver, value/transformer.go tries each with the prefix of
 * the data). Undefined if the present one can read everything already.
 *
 * @throws ZodError if one of them is not a configuration with one entry.
 */
export function withProvidersOf(present: string, other: string): string | undefined {
  const ours = configurationSchema.parse(readGoYaml(present));
  const theirs = configurationSchema.parse(readGoYaml(other));
  const [{ providers, ...entry }] = ours.resources;
  const known = providers.map((provider) => JSON.stringify(provider));
  const more = theirs.resources[0].providers.filter(
    (provider) => !known.includes(JSON.stringify(provider)),
  );
  if (more.length === 0) return undefined;
  return writeGoYaml({ ...ours, resources: [{ ...entry, providers: [...providers, ...more] }] });
}
