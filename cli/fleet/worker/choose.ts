import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { resourcePath } from '../../../lib/clients/kube/resources.ts';
import type { Hub } from './hub.ts';
import { type HubSite, hubKinds } from './kinds.ts';

export interface Choice {
  readonly name?: string | undefined;
  readonly selector?: string | undefined;
  readonly index?: string | undefined;
}

const PAGE = '500';
/** The names alone: a wave has thousands of Sites, and each of its pods asks for one. */
const NAMES_ONLY = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const namesSchema = z.object({
  metadata: z.object({ continue: z.string().optional() }),
  items: z.array(z.object({ metadata: z.object({ name: z.string() }) })),
});

/** The Site with that name, or the n-th (from 0) of a selector by name. @throws Failure (usage) */
export async function chosenSite(hub: Hub, choice: Choice): Promise<HubSite> {
  const name = choice.name ?? (await indexedName(hub, choice));
  const site = await hub.find(hubKinds.sites, name);
  if (site !== undefined) return site;
  throw new Failure('usage', `there is no Site ${name} in the namespace ${hub.namespace}`, {
    subject: name,
  });
}

async function indexedName(hub: Hub, { selector, index }: Choice): Promise<string> {
  if (selector === undefined || index === undefined || !/^\d{1,6}$/.test(index)) {
    throw new Failure('usage', 'no Site is named', {
      expected: 'the name of a Site, or --selector and --index, a number from 0',
      found: index === undefined ? 'no --index' : `--index ${index}`,
    });
  }
  const names: string[] = [];
  for (let next: string | undefined = ''; next !== undefined && names.length <= Number(index); ) {
    const page = await namesPage(hub, selector, next);
    names.push(...page.items.map(({ metadata }) => metadata.name));
    next = page.metadata.continue || undefined;
  }
  const name = names[Number(index)];
  if (name !== undefined) return name;
  throw new Failure('usage', `the selector ${selector} has no Site with the index ${index}`, {
    found: `${names.length} Sites in the namespace ${hub.namespace}`,
  });
}

/** In the order of their names: that of their keys in etcd. */
async function namesPage(hub: Hub, selector: string, next: string) {
  const query = new URLSearchParams({
    labelSelector: selector,
    limit: PAGE,
    ...(next === '' ? {} : { continue: next }),
  });
  const path = `${resourcePath(hubKinds.sites, { namespace: hub.namespace })}?${query}`;
  return hub.ask((limits) =>
    hub.client.answer(namesSchema, { method: 'GET', path, accept: NAMES_ONLY }, limits),
  );
}
