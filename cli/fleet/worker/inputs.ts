import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { parseJson } from '../../../lib/base/json.ts';
import { inOneLine } from '../../../lib/base/printable.ts';
import {
  hostFactsSchema,
  type ShippedHostFacts,
} from '../../../lib/config/site-config/host-facts.ts';
import { SITE_CONFIG } from '../../../lib/config/site-config/site-config.ts';
import { VOLUME_FILES } from '../../../lib/relocation/site-volume/volume.ts';
import type { Hub } from './hub.ts';
import { type HubSite, hubKinds } from './kinds.ts';

/** What a Site names, read from the hub. */
export interface SiteInputs {
  /** The text of site-config.yaml with its placeholders, and where it is from. */
  readonly template: { readonly text: string; readonly name: string };
  /** What lies beside it, by path: manifests, and what the template may name. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Of the placeholders. */
  readonly values: ReadonlyMap<string, string>;
  /** Names that two sources give. */
  readonly ambiguous: readonly string[];
  /** Which texts of them no message may have. */
  readonly secrets: readonly string[];
  readonly facts: ShippedHostFacts | undefined;
}

const HOST_FACTS = 'host-facts.json';
/** As ConfigMaps have no folders. */
const MANIFEST = new RegExp(`^${VOLUME_FILES.manifests}\\.([A-Za-z0-9_].*)$`);
/** Of ConfigMaps and Secrets, without those that are folders. */
const KEY = /^(?!\.{1,2}$)[-._a-zA-Z0-9]{1,253}$/;
const LONGEST_FOUND = 400;

/** @throws Failure (usage) for what is not there or cannot be used */
export async function gatherInputs(hub: Hub, site: HubSite): Promise<SiteInputs> {
  const { templateRef, hostFactsRef, secretRefs = [] } = site.spec;
  if (templateRef === undefined) throw noTemplate('spec.templateRef is missing');
  const name = `ConfigMap ${templateRef.name}`;
  const { [SITE_CONFIG]: text, ...beside } = (await configMap(hub, templateRef.name)).data ?? {};
  if (text === undefined) throw noTemplate(`${name} has no ${SITE_CONFIG}`);
  const files = new Map<string, Uint8Array>();
  for (const [key, contents] of Object.entries(beside)) {
    addFile(files, key, Buffer.from(contents));
  }
  const values = new Map([['site', site.metadata.name], ...Object.entries(site.spec.values ?? {})]);
  const own = new Set(Object.keys(site.spec.values ?? {}));
  const secrets: string[] = [];
  const ambiguous: string[] = [];
  for (const { name: secret } of secretRefs) {
    for (const [key, bytes] of await secretKeys(hub, secret)) {
      addFile(files, key, bytes);
      if (!isUtf8(bytes)) continue;
      const value = bytes.toString('utf8').replace(/\r?\n$/, '');
      const placeholder = key.replaceAll(/[^A-Za-z0-9_]/g, '_');
      if (own.has(placeholder)) ambiguous.push(placeholder);
      own.add(placeholder);
      values.set(placeholder, value);
      secrets.push(value);
    }
  }
  const facts = hostFactsRef === undefined ? undefined : await hostFacts(hub, hostFactsRef.name);
  return {
    template: { text, name: `${SITE_CONFIG} of ${name}` },
    files,
    values,
    ambiguous,
    secrets,
    facts,
  };
}

/** Two files of a name would be read as either of them. */
function addFile(files: Map<string, Uint8Array>, key: string, contents: Uint8Array): void {
  const [, manifest] = MANIFEST.exec(key) ?? [];
  const path = manifest === undefined ? key : `${VOLUME_FILES.manifests}/${manifest}`;
  if (KEY.test(key) && path !== VOLUME_FILES.manifests && !files.has(path)) {
    files.set(path, contents);
    return;
  }
  throw new Failure(
    'usage',
    `the key ${JSON.stringify(key)} of a ConfigMap or Secret cannot be used`,
    {
      expected: 'keys that are names of files, each in one of them only',
    },
  );
}

async function configMap(hub: Hub, name: string) {
  const found = await hub.find(hubKinds.configMaps, name);
  if (found !== undefined) return found;
  throw missing('ConfigMap', name, hub);
}

async function secretKeys(hub: Hub, name: string): Promise<[string, Buffer][]> {
  const found = await hub.find(hubKinds.secrets, name);
  if (found === undefined) throw missing('Secret', name, hub);
  return Object.entries(found.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')]);
}

async function hostFacts(hub: Hub, name: string): Promise<ShippedHostFacts> {
  const text = (await configMap(hub, name)).data?.[HOST_FACTS] ?? '';
  const parsed = hostFactsSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `the ConfigMap ${name} has no facts of a node`, {
    expected: `${HOST_FACTS}, as the factory has written it`,
    found:
      text === ''
        ? `no ${HOST_FACTS}`
        : inOneLine(z.prettifyError(parsed.error)).slice(0, LONGEST_FOUND),
  });
}

const missing = (kind: string, name: string, { namespace }: Hub) =>
  new Failure('usage', `the Site names the ${kind} ${name}, which does not exist`, {
    expected: `one in the namespace ${namespace}`,
  });

const noTemplate = (found: string) =>
  new Failure('usage', 'the Site has no template', {
    expected: `a ConfigMap with ${SITE_CONFIG}`,
    found,
  });
