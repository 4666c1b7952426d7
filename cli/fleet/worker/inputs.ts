import { isUtf8 } from 'node:buffer';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { jsonFaults } from '../../../lib/base/errors/schema-faults.ts';
import { parseJson } from '../../../lib/base/json.ts';
import {
  hostFactsSchema,
  type ShippedHostFacts,
} from '../../../lib/config/site-config/host-facts.ts';
import { templateFiles } from '../template-files.ts';
import type { Hub } from './hub.ts';
import { type HubSite, hubKinds } from './kinds.ts';

/** What a Site names, read from the hub. */
export interface SiteInputs {
  /** The text of site-config.yaml or install-config.yaml with its placeholders, and where it is from. */
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
/** Of ConfigMaps and Secrets, without those that are folders. */
const KEY = /^(?!\.{1,2}$)[-._a-zA-Z0-9]{1,253}$/;

/** @throws Failure (usage) for what is not there or cannot be used */
export async function gatherInputs(hub: Hub, site: HubSite): Promise<SiteInputs> {
  const { action, templateRef, hostFactsRef, secretRefs = [] } = site.spec;
  const { config, folders } = templateFiles(action);
  if (templateRef === undefined) throw noTemplate(config, 'spec.templateRef is missing');
  const name = `ConfigMap ${templateRef.name}`;
  const { [config]: text, ...beside } = (await configMap(hub, templateRef.name)).data ?? {};
  if (text === undefined) throw noTemplate(config, `${name} has no ${config}`);
  const files = new Map<string, Uint8Array>();
  for (const [key, contents] of Object.entries(beside)) {
    addFile(files, { key, folders }, Buffer.from(contents));
  }
  const values = new Map([['site', site.metadata.name], ...Object.entries(site.spec.values ?? {})]);
  const own = new Set(Object.keys(site.spec.values ?? {}));
  const secrets: string[] = [];
  const ambiguous: string[] = [];
  for (const { name: secret } of secretRefs) {
    for (const [key, bytes] of await secretKeys(hub, secret)) {
      addFile(files, { key, folders }, bytes);
      if (!isUtf8(bytes)) continue;
      const value = bytes.toString('utf8').replace(/\r?\n$/, '');
      const placeholder = key.replaceAll(/[^A-Za-z0-9_]/g, '_');
      if (own.has(placeholder)) ambiguous.push(placeholder);
      own.add(placeholder);
      values.set(placeholder, value);
      secrets.push(value);
    }
  }
  const hasFacts = action !== 'install' && hostFactsRef !== undefined;
  const facts = hasFacts ? await hostFacts(hub, hostFactsRef.name) : undefined;
  return {
    template: { text, name: `${config} of ${name}` },
    files,
    values,
    ambiguous,
    secrets,
    facts,
  };
}

/** ConfigMaps have no folders. Two files of a name would be read as either of them. */
function addFile(
  files: Map<string, Uint8Array>,
  { key, folders }: { readonly key: string; readonly folders: readonly string[] },
  contents: Uint8Array,
): void {
  const folder = folders.find(
    (each) => /^\.[A-Za-z0-9_]/.test(key.slice(each.length)) && key.startsWith(each),
  );
  const path = folder === undefined ? key : `${folder}/${key.slice(folder.length + 1)}`;
  if (KEY.test(key) && !folders.includes(path) && !files.has(path)) {
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
    found: text === '' ? `no ${HOST_FACTS}` : jsonFaults(text, parsed.error),
  });
}

const missing = (kind: string, name: string, { namespace }: Hub) =>
  new Failure('usage', `the Site names the ${kind} ${name}, which does not exist`, {
    expected: `one in the namespace ${namespace}`,
  });

const noTemplate = (config: string, found: string) =>
  new Failure('usage', 'the Site has no template', {
    expected: `a ConfigMap with ${config}`,
    found,
  });
