import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { parseJson } from '../../lib/base/json.ts';
import { architectures } from '../../lib/host/architecture.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** What an ISO for live hosts has beside the live system, without anything of a site. */
export const mediumSchema = z.strictObject({
  apiVersion: z.literal('sno-agents/v1'),
  kind: z.literal('LiveMedium'),
  /** Of `sno-agents`. */
  version: z.string().max(128),
  architecture: z.enum(architectures),
  executableSha256: digest,
  /** Of payload.yaml, which has the digests of all other files of the payload. */
  payloadSha256: digest.optional(),
});
export type MediumDescription = z.infer<typeof mediumSchema>;

/** In the folder of the additions. */
export const DESCRIPTION_NAME = 'medium.json';
export const MAX_DESCRIPTION_BYTES = 4096;

/** The same medium always gives the same bytes. */
export function descriptionText(medium: Omit<MediumDescription, 'apiVersion' | 'kind'>): string {
  const { version, architecture, executableSha256, payloadSha256 } = medium;
  const whole: MediumDescription = {
    apiVersion: 'sno-agents/v1',
    kind: 'LiveMedium',
    ...{ version, architecture, executableSha256 },
    ...(payloadSha256 === undefined ? {} : { payloadSha256 }),
  };
  return `${JSON.stringify(whole)}\n`;
}

/** `iso` names it in errors. @throws Failure (usage) */
export function parseDescription(text: string, iso: string): MediumDescription {
  const parsed = mediumSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path }) => path.join('.') || 'the whole file');
  throw new Failure('usage', `${iso} is not a shared ISO that this sno can read`, {
    expected: `${DESCRIPTION_NAME} as this release of sno writes it`,
    found: `other contents of ${fields.join(', ')}`,
    fix: 'Create it again with "sno create shared-iso" of this release.',
  });
}
