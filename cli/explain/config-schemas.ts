import { z } from 'zod';
import { MESSAGES } from '../../lib/config/file/message.ts';
import { siteConfigSchema } from '../../lib/config/site-config/schema.ts';
import { installConfigSchema } from '../install-config/schema.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/**
 * A configuration as a JSON Schema (draft 2020-12), for editors and pipelines. What is between
 * fields (networks that overlap) or inside of a text (keys, certificates) only `sno` checks.
 */
function configJsonSchema(title: string, config: z.ZodType): JsonSchema {
  const schema = z.toJSONSchema(config, {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const message = MESSAGES.get(zodSchema);
      if (message === undefined) return;
      Object.assign(jsonSchema, { description: message.expected }, message.json);
    },
  });
  return { title, ...schema };
}

export const installConfigJsonSchema = (): JsonSchema =>
  configJsonSchema('install-config.yaml of sno-agents', installConfigSchema);

export const siteConfigJsonSchema = (): JsonSchema =>
  configJsonSchema('site-config.yaml of sno-agents', siteConfigSchema);

/** The schema of an optional field without the null that stands for a key without a value. */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const [only, other] = schema.anyOf ?? [];
  return typeof only === 'object' && typeof other === 'object' && other.type === 'null'
    ? only
    : schema;
}
