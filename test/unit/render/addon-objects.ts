import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { addOns } from '../../../lib/payload/add-ons.ts';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import type { Rendered, RenderInput } from '../../../lib/render/renderer.ts';
import { input } from './rendered-host.ts';

/** The objects of add-ons as the tests read them. */
export const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  data: z.record(z.string(), z.string()).optional(),
});

const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  imagePullPolicy: z.string(),
  resources: z.looseObject({ requests: z.object({ cpu: z.string(), memory: z.string() }) }),
  securityContext: z.looseObject({
    capabilities: z.strictObject({
      drop: z.array(z.string()),
      add: z.array(z.string()).optional(),
    }),
  }),
});
export const podSpecSchema = z.looseObject({
  containers: z.tuple([containerSchema]),
  securityContext: z.looseObject({}),
  priorityClassName: z.string(),
  hostNetwork: z.boolean().optional(),
  volumes: z.array(z.looseObject({ name: z.string() })).optional(),
});

/** The input of a host whose payload has these add-ons. */
export function inputWith(names: readonly string[], base: RenderInput = input): RenderInput {
  const images = Object.fromEntries(names.map((name) => [name, `example.test/${name}:1`]));
  return { ...base, host: { ...base.host, images: { ...base.host.images, ...images } } };
}

export const everyAddOn = inputWith(addOns.map(({ name }) => name));
export const withAddOns = await kubernetesRenderer.render(everyAddOn);

export function objectsOf({ manifests }: Rendered, addOn: string) {
  const contents = manifests.find(({ name }) => name === `20-${addOn}.yaml`)?.contents ?? '';
  return parseAllDocuments(contents).map((document) => objectSchema.parse(document.toJS()));
}

/** The only object of a kind. */
export function objectOf(addOn: string, kind: string, rendered = withAddOns) {
  const found = objectsOf(rendered, addOn).filter((each) => each.kind === kind);
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`${found.length} ${kind} of ${addOn}`);
  return only;
}
