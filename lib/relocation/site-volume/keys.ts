import { hasStoreSecret } from '../../change/backup/push/read-backup-to.ts';
import { hasSecret } from '../../engine/report/read-report-to.ts';
import { scanForKeys } from '../../secrets/key-scan.ts';
import { VOLUME_FILES } from './volume.ts';

/** Whether the text of a file with that path has a token or a key that is in no form of keys. */
const WITH_TOKENS: Readonly<Record<string, (text: string) => boolean>> = {
  [VOLUME_FILES.reportTo]: hasSecret,
  [VOLUME_FILES.backupTo]: hasStoreSecret,
};
const PEM = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;

/** The paths of the files in which a private key is, however it is encoded: in a Secret it is base64. So are the tokens of report-to.json and backup-to.json. */
export async function filesWithKeys(
  files: ReadonlyMap<string, Uint8Array>,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  for (const [path, bytes] of files) {
    const scan = await scanForKeys(once(bytes), signal);
    // The scan does not look for keys with a passphrase.
    const isPem = PEM.test(Buffer.from(bytes).toString('latin1'));
    const hasToken = WITH_TOKENS[path]?.(Buffer.from(bytes).toString('utf8')) === true;
    if (isPem || hasToken || scan.keys.size > 0 || !scan.complete) found.push(path);
  }
  return found;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
