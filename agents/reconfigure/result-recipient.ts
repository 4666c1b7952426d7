import { rm } from 'node:fs/promises';
import type { Encrypter } from 'age-encryption';
import { encrypterFor } from '../../lib/change/backup/portable/recipients.ts';
import { resultRecipientPath } from '../../lib/change/site/places.ts';
import { readTextIfPresent, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

/** Keeps who reads the details of this volume's end; its files are gone by then. */
export async function keepResultRecipient(
  paths: HostPaths,
  contents: Uint8Array | undefined,
): Promise<void> {
  if (contents === undefined) await rm(resultRecipientPath(paths), { force: true });
  else await writeFileAtomic(resultRecipientPath(paths), contents, 0o600);
}

/** Undefined: nobody does. A recipient that is none costs the details, and not the verdict. */
export async function resultEncrypter(paths: HostPaths): Promise<Encrypter | undefined> {
  const text = await readTextIfPresent(resultRecipientPath(paths));
  try {
    return text === undefined ? undefined : encrypterFor([text.trim()]);
  } catch {
    return undefined;
  }
}
