import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const objectSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), uid: z.string(), namespace: z.string().optional() }),
  data: z.unknown().optional(),
  spec: z.unknown().optional(),
});
const listSchema = z.object({ items: z.array(objectSchema) });

export type LiveObject = z.infer<typeof objectSchema>;
/** By plural name of the resource. */
export type LiveObjects = Readonly<Record<string, readonly LiveObject[]>>;

const COLLECTED = ['namespaces', 'configmaps', 'customresourcedefinitions'] as const;

/** Reads the API objects that bootkube saved for the log bundle, from the live host's tree. */
export async function readLiveObjects(rootDir: string): Promise<LiveObjects> {
  const folder = join(rootDir, 'opt/openshift/gather/resources');
  const lists = await Promise.all(
    COLLECTED.map(async (name) => {
      const text = await readFile(join(folder, `${name}.json`), 'utf8');
      return [name, listSchema.parse(JSON.parse(text)).items] as const;
    }),
  );
  return Object.fromEntries(lists);
}
