import { packedMagics } from './packed.ts';
import { privateKeyMarkers } from './private-keys.ts';

const markers = [...privateKeyMarkers, ...packedMagics];
/** By two bytes: whether a marker begins with them. */
const begins = new Uint8Array(1 << 16);
for (const marker of markers) begins[marker.readUInt16BE()] = 1;

/** Whether a private key in DER, a gzip member or a zstd frame may begin anywhere in the bytes. */
export function holdsMarker(bytes: Buffer): boolean {
  let pair = 0;
  for (let at = 0; at < bytes.length; at++) {
    pair = ((pair << 8) | (bytes[at] ?? 0)) & 0xffff;
    if (begins[pair] === 1) return markers.some((marker) => bytes.includes(marker));
  }
  return false;
}
