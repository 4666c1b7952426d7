import { Budget, type BudgetLimits } from './bytes/budget.ts';
import { ByteScanner } from './scan/byte-scanner.ts';
import { defaultScanLimits, Pending, type Scan } from './scan/scan.ts';

export interface KeyScan {
  /** sha256 (hex) of each found key's SubjectPublicKeyInfo, as `publicKeyFingerprint` has it. */
  readonly keys: ReadonlySet<string>;
  readonly bytes: number;
  /** False when a limit kept a part from being looked at. */
  readonly complete: boolean;
}

/**
 * Finds every private key (RSA from 1024 bits, EC P-256 and P-384; PKCS#8, PKCS#1 and
 * SEC 1) in a stream: as DER, as PEM, in base64 however often encoded, broken into
 * lines, escaped for JSON or percent-encoded, in gzip and zstd, at any offset and
 * inside each other. Uncompressed archives need nothing of their own.
 *
 * Not found: keys that are encrypted, in JWK or base64url with its own characters, in
 * xz, bzip2, lz4, zip, UTF-16, or with other text between the lines of their base64.
 *
 * Memory stays within a few MiB and `limits`. A piece of the source may be used again
 * once the next one is asked for.
 *
 * @throws the reason of the signal, and what the source throws; never for contents.
 */
export async function scanForKeys(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  limits: BudgetLimits = defaultScanLimits,
): Promise<KeyScan> {
  const budget = new Budget(limits);
  const scan: Scan = { signal, budget, keys: new Set(), decompressions: new Set() };
  const pending = new Pending();
  const scanner = new ByteScanner(scan, pending);
  let bytesRead = 0;
  try {
    for await (const bytes of source) {
      signal.throwIfAborted();
      bytesRead += bytes.length;
      budget.read(bytes.length);
      scanner.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      await pending.settled();
    }
    scanner.end(Buffer.alloc(0));
    await pending.settled();
  } finally {
    for (const decompression of scan.decompressions) decompression.stop();
  }
  return { keys: scan.keys, bytes: bytesRead, complete: !budget.isExhausted };
}
