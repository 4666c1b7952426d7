import { gunzipSync } from 'node:zlib';

const MAX_DEPTH = 4;

/** How the secret still occurs in the output: verbatim, escaped, encoded, or inside decoded base64. */
export function traces(output: Buffer, secrets: readonly string[]): string[] {
  const texts = [...readings(output, 0)];
  return secrets.filter((secret) =>
    spellings(secret).some((spelling) => texts.some((text) => text.includes(spelling))),
  );
}

function spellings(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    base64.replace(/.?=*$/, ''),
    Buffer.from(base64)
      .toString('base64')
      .replace(/..?=*$/, ''),
    Buffer.from(secret).toString('hex'),
  ].filter((text) => text.length > 6);
}

function* readings(bytes: Buffer, depth: number): Generator<string> {
  const text = bytes.toString('latin1');
  yield text;
  if (depth > MAX_DEPTH) return;
  const decoded = text.replace(/%([0-9A-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  if (decoded !== text) yield* readings(Buffer.from(decoded, 'latin1'), depth + 1);
  // Also wrapped, escaped or not.
  for (const joined of new Set([text, text.replace(/\\+n|\s+/g, '')])) {
    for (const [run] of joined.matchAll(/[A-Za-z0-9+/_-]{16,}/g)) {
      for (let skip = 0; skip < 4; skip++) yield* decodings(run.slice(skip), depth);
    }
  }
}

function* decodings(run: string, depth: number): Generator<string> {
  const bytes = Buffer.from(run, 'base64');
  const start = bytes.indexOf(Buffer.from([0x1f, 0x8b, 0x08]));
  if (start !== -1) {
    try {
      yield* readings(gunzipSync(bytes.subarray(start), { finishFlush: 2 }), depth + 1);
    } catch {
      // Not gzip.
    }
  }
  yield bytes.toString('latin1');
  if (/^[\x20-\x7e\s]{12,}/.test(bytes.toString('latin1'))) yield* readings(bytes, depth + 1);
}
