import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readGoYaml } from '../../lib/base/go-yaml/read.ts';
import { namesIn } from '../../lib/host/files.ts';
import { type Component, components } from '../../lib/render/kubernetes/static-pod.ts';

/** A static pod of the control plane, as its manifest in a folder says. */
export interface PodOnHost {
  readonly component: Component;
  readonly file: string;
  readonly manifest: string;
}

const podSchema = z.object({
  kind: z.literal('Pod'),
  metadata: z.object({ name: z.enum(components), namespace: z.literal('kube-system') }),
});

/**
 * The control plane's static pods in a folder, in start order. They are found by what they are: the
 * file of etcd has another name on a host that a live host wrote.
 */
export async function podsIn(folder: string): Promise<PodOnHost[]> {
  const pods: PodOnHost[] = [];
  for (const file of await namesIn(folder)) {
    if (file.startsWith('.') || !file.endsWith('.yaml')) continue;
    const manifest = await readFile(join(folder, file), 'utf8');
    const component = componentOf(manifest);
    if (component !== undefined) pods.push({ component, file, manifest });
  }
  return pods.toSorted((a, b) => order(a.component) - order(b.component));
}

const order = (component: Component): number => components.indexOf(component);

/** Undefined for other static pods, also broken ones. */
function componentOf(manifest: string): Component | undefined {
  try {
    return podSchema.safeParse(readGoYaml(manifest)).data?.metadata.name;
  } catch {
    return undefined;
  }
}
