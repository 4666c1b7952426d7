import { join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { ensureComponent } from '../../../lab/components/component.ts';
import { GO_YAML_PROGRAM, goYaml } from '../../../lab/components/go-yaml.ts';

const answersSchema = z.array(
  z.object({
    json: z.string().optional(),
    error: z.string().optional(),
    documents: z.array(z.string()).default([]),
    streamError: z.string().optional(),
  }),
);

/** What Go makes of a text (lab/components/go-yaml/main.go). */
export type GoAnswer = z.infer<typeof answersSchema>[number];

/**
 * Asks Go about each text: `documents` sigs.k8s.io/yaml and kubectl's decoder, `kubeconfigs` client-go,
 * `pods` the API's types, with no unknown field, `servers` crypto/tls about certificates with their issuers and key.
 */
export async function askGo(
  what: 'documents' | 'kubeconfigs' | 'pods' | 'servers',
  texts: readonly string[],
): Promise<GoAnswer[]> {
  const { signal } = new AbortController();
  const folder = await ensureComponent(goYaml, { signal, report: () => {} });
  const { stdout } = await execa(join(folder, GO_YAML_PROGRAM), [what], {
    input: JSON.stringify(texts),
    timeout: 5 * 60_000,
    maxBuffer: 256 * 1024 * 1024,
  });
  return answersSchema.parse(JSON.parse(stdout));
}

/** JSON with sorted keys and with its numbers as written, so that equal texts mean equal values. */
export function canonicalJson(json: string): string {
  return JSON.stringify(
    JSON.parse(json, (_key, value: unknown, context?: { source?: string }) => {
      if (typeof value === 'number') return `number ${context?.source}`;
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
    }),
  );
}
