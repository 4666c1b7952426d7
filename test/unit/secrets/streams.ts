import type { Redaction } from '../../../lib/secrets/redact/redactor.ts';

/** The output of a redaction whose input arrives in pieces of up to `size` bytes. */
export async function redacted(
  redaction: Redaction,
  bytes: Buffer,
  size: () => number = () => 65_536,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of redaction(inPieces(bytes, size))) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

async function* inPieces(bytes: Buffer, size: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + Math.max(1, size());
    yield bytes.subarray(at, end);
    at = end;
  }
}
