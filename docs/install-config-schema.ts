import { z } from 'zod';
import { MESSAGES } from '../cli/install-config/message.ts';
import { installConfigSchema } from '../cli/install-config/schema.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/**
 * install-config.yaml as a JSON Schema (draft 2020-12), for editors and pipelines. What is between
 * fields (networks that overlap) or inside of a text (keys, certificates) only `sno` checks.
 */
export function installConfigJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(installConfigSchema, {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const message = MESSAGES.get(zodSchema);
      if (message === undefined) return;
      Object.assign(jsonSchema, { description: message.expected }, message.json);
    },
  });
  return { title: 'install-config.yaml of sno-agents', ...schema };
}

/** The schema of an optional field without the null that stands for a key without a value. */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const [only, other] = schema.anyOf ?? [];
  return typeof only === 'object' && typeof other === 'object' && other.type === 'null'
    ? only
    : schema;
}
