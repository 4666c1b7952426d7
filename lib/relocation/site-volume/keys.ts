import { hasSecret } from '../../engine/report/read-report-to.ts';
import { scanForKeys } from '../../secrets/key-scan.ts';
import { VOLUME_FILES } from './volume.ts';

const PEM = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;

/** The paths of the files in which a private key is, however it is encoded: in a Secret it is base64. So is the token of report-to.json. */
export async function filesWithKeys(
  files: ReadonlyMap<string, Uint8Array>,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  for (const [path, bytes] of files) {
    const scan = await scanForKeys(once(bytes), signal);
    // The scan does not look for keys with a passphrase.
    const isPem = PEM.test(Buffer.from(bytes).toString('latin1'));
    const hasToken =
      path === VOLUME_FILES.reportTo && hasSecret(Buffer.from(bytes).toString('utf8'));
    if (isPem || hasToken || scan.keys.size > 0 || !scan.complete) found.push(path);
  }
  return found;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
