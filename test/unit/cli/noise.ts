import { createHash } from 'node:crypto';

/** Poorly compressible text, the same in every run. */
export function noise(length: number): string {
  const parts: string[] = [];
  for (let i = 0; parts.length * 86 < length; i++) {
    parts.push(createHash('sha512').update(String(i)).digest('base64url'));
  }
  return parts.join('').slice(0, length);
}
