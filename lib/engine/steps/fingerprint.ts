import { createHash } from 'node:crypto';
import { isRecord } from '../../base/json.ts';

/** A short digest of JSON data that does not depend on the order of keys. */
export function fingerprint(data: unknown): string {
  return createHash('sha256').update(canonicalJson(data)).digest('hex').slice(0, 16);
}

function canonicalJson(data: unknown): string {
  const json = JSON.stringify(data, (_key, value: unknown) =>
    isRecord(value)
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((key) => [key, value[key]]),
        )
      : value,
  );
  // JSON has no undefined.
  return json ?? 'null';
}
