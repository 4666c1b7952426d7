import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { publicKeyFingerprint } from '../../../lib/pki/keys.ts';

/** A private key and the forms in which a file may contain it. */
export interface PlantedKey {
  readonly name: string;
  readonly fingerprint: string;
  readonly forms: Readonly<Record<string, Buffer>>;
}

export const newEcKey = (namedCurve = 'P-256') =>
  generateKeyPairSync('ec', { namedCurve }).privateKey;
export const newRsaKey = (modulusLength = 2048) =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey;

const base64 = (contents: string | Buffer, times = 1): string => {
  const text = Buffer.from(contents).toString('base64');
  return times === 1 ? text : base64(text, times - 1);
};
const inLines = (text: string) => text.replace(/.{76}/g, '$&\n');
const indent = (text: string) => text.replace(/^/gm, '      ');

/** Gzip members of one stored block each, none of them finished: more than are read at once. */
export const tooManyStreams = Buffer.from('1f8b080000000000000300ffff0000'.repeat(20), 'hex');

/** A tar archive of one file, sufficient for a reader that ignores headers. */
const tar = (contents: Buffer) =>
  Buffer.concat([
    Buffer.alloc(512, 'name'),
    contents,
    Buffer.alloc((512 - (contents.length % 512)) % 512),
    Buffer.alloc(1024),
  ]);

function encodings(key: KeyObject, inner: 'sec1' | 'pkcs1'): Record<string, Buffer> {
  const pem = String(key.export({ type: 'pkcs8', format: 'pem' }));
  const innerPem = String(key.export({ type: inner, format: 'pem' }));
  const der = key.export({ type: 'pkcs8', format: 'der' });
  const json = JSON.stringify({ data: { key: pem } });
  const noise = randomBytes(5000);
  const forms: Record<string, string | Buffer> = {
    'PEM, PKCS#8': pem,
    [`PEM, ${inner}`]: innerPem,
    'PEM with CRLF': pem.replaceAll('\n', '\r\n'),
    'PEM in YAML': `key: |\n${indent(pem)}\nnext: 1\n`,
    'PEM in JSON': json,
    'PEM in JSON with escaped slashes': json.replaceAll('/', '\\/'),
    'PEM in JSON in JSON': JSON.stringify({ spec: json }),
    'PEM in a data URL': `{"source":"data:,${encodeURIComponent(pem)}"}`,
    'PEM in a data URL, encoded twice': `data:,${encodeURIComponent(encodeURIComponent(pem))}`,
    'DER, PKCS#8': der,
    [`DER, ${inner}`]: key.export({ type: inner, format: 'der' }),
    'DER in noise': Buffer.concat([noise, der, noise]),
    'base64 of DER': base64(der),
    'base64 of PEM after one character': `x${base64(pem)}`,
    'base64 of PEM after two characters': `xy${base64(pem)}`,
    'base64 of PEM after three characters': `xyz${base64(pem)}`,
    'base64 of PEM, not at its start': base64(`ab${json}`),
    'base64 of PEM, two bytes in': base64(`abc${json}`),
    'base64 of PEM in lines': inLines(base64(pem)),
    'base64 twice': base64(pem, 2),
    'base64 three times': base64(pem, 3),
    'base64 four times, in lines': inLines(base64(pem, 4)),
    'base64 in a percent-encoded document': encodeURIComponent(`{"a":"${base64(der)}"}`),
    gzip: gzipSync(pem),
    'gzip in noise': Buffer.concat([noise, gzipSync(json), noise]),
    'the second gzip member': Buffer.concat([gzipSync('first'), gzipSync(pem)]),
    'gzip, cut off': gzipSync(Buffer.concat([Buffer.from(pem), noise])).subarray(0, 4000),
    'base64 of gzip': `data:;base64,${base64(gzipSync(pem))}`,
    'gzip of JSON with base64 of gzip': gzipSync(`{"a":"${base64(gzipSync(json))}"}`),
    'long gzip': gzipSync(Buffer.concat([randomBytes(700_000), Buffer.from(pem)])),
    'gzip that grows': gzipSync(Buffer.concat([Buffer.alloc(6 << 20), Buffer.from(pem)])),
    'base64 of long gzip': base64(
      gzipSync(Buffer.concat([randomBytes(700_000), Buffer.from(json)])),
    ),
    zstd: zstdCompressSync(pem),
    'zstd with a checksum, before other bytes': Buffer.concat([
      zstdCompressSync(pem, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
      noise,
    ]),
    'zstd in noise': Buffer.concat([noise, zstdCompressSync(json), noise]),
    'the second zstd frame': Buffer.concat([zstdCompressSync('first'), zstdCompressSync(pem)]),
    'long zstd': Buffer.concat([
      noise,
      zstdCompressSync(Buffer.concat([randomBytes(700_000), Buffer.from(pem)])),
      noise,
    ]),
    'zstd that grows': zstdCompressSync(Buffer.concat([Buffer.alloc(6 << 20), Buffer.from(pem)])),
    tar: tar(Buffer.from(pem)),
    'gzip of tar': gzipSync(tar(der)),
    'gzip in tar': tar(gzipSync(pem)),
    'zstd of tar with gzip of tar': zstdCompressSync(tar(gzipSync(tar(Buffer.from(json))))),
  };
  return Object.fromEntries(
    Object.entries(forms).map(([name, contents]) => [name, Buffer.from(contents)]),
  );
}

export function plantedKey(
  name: string,
  key: KeyObject,
  inner: 'sec1' | 'pkcs1' = 'sec1',
): PlantedKey {
  const pem = String(key.export({ type: 'pkcs8', format: 'pem' }));
  return { name, fingerprint: publicKeyFingerprint(pem), forms: encodings(key, inner) };
}
