import { createSuccessor, type KeyPair, type Successor } from '../../../lib/pki/authority.ts';
import {
  type AuthorityName,
  authorityPaths,
  laptopAdminCa,
} from '../../../lib/render/kubernetes/authorities.ts';
import {
  leafChanges,
  type ReadText,
  required,
  signerChanges,
  trustChanges,
} from '../../steps/certificates/authority-files.ts';
import type { Staged } from '../../steps/certificates/changes.ts';

/**
 * New authorities, and what changes for them: first every program trusts old and new, then leaves and
 * signers are the new ones, then only the new ones are trusted. A server presents the new
 * authority's certificate by the old one too, for clients outside that trust only the old one:
 * administrators and pods that read it when they started.
 */
export async function stageAuthorities(
  names: readonly AuthorityName[],
  read: ReadText,
  now: Date,
): Promise<Omit<Staged, 'schemaVersion' | 'id'>> {
  const replaced = new Map<AuthorityName, { old: KeyPair; next: Successor }>();
  for (const name of names) {
    const { certificate, key } = authorityPaths(name);
    const old = { certificate: await required(read, certificate), key: await required(read, key) };
    replaced.set(name, { old, next: await createSuccessor(old, now) });
  }
  const leaves = await leafChanges(replaced, read, now);
  const laptop = await read(laptopAdminCa);
  return {
    phases: {
      'trust-both': await trustChanges(replaced, read, ({ old, next }) => [old, next], laptop),
      // The signers last: a leaf that is renewed meanwhile is signed by the authority on the disk.
      'use-new': [...leaves.changes, ...signerChanges(replaced)],
      // Administrators of the laptop end with those of the old authority.
      'trust-new': await trustChanges(
        replaced,
        read,
        ({ next }) => [next],
        replaced.has('admin') ? undefined : laptop,
      ),
    },
    retired: leaves.retired,
  };
}
