import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ifMissing } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type Inventory, type InventoryItem, inventoryItem } from '../../../lib/pki/inventory.ts';
import { authorityNames, authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { inventory } from '../../../lib/render/kubernetes/inventory.ts';

/** The certificates and keys that exist on this host. Only root can read the keys' folders. */
export async function listCertificates(paths: HostPaths, now = new Date()): Promise<Inventory> {
  const textOf = (path: string) => readFile(paths.at(path), 'utf8').catch(ifMissing);
  const signers = new Map<string, string | undefined>();
  for (const name of authorityNames)
    signers.set(name, await textOf(authorityPaths(name).certificate));
  const items: InventoryItem[] = [];
  for (const entry of inventory) {
    const text = await textOf(entry.path);
    if (text !== undefined) {
      items.push(inventoryItem(entry, text, now, signers.get(entry.signer ?? '')));
    }
  }
  return { schemaVersion: 1, hostname: hostname(), at: now.toISOString(), items };
}
