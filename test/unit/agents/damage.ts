import { mkdirSync } from 'node:fs';
import type { TestHost } from './host/host.ts';

/** What a power cut, an editor or a disk leaves in place of an optional file, by what it is. */
export const DAMAGE: Readonly<Record<string, (host: TestHost, path: string) => void>> = {
  'an empty file': (host, path) => host.write(path, ''),
  'half a file': (host, path) => host.write(path, '{"schemaVersion": 1, "etcdMs": 10'),
  'another kind of JSON': (host, path) => host.write(path, '[null]'),
  'bytes that are no text': (host, path) => host.write(path, Buffer.from([0xff, 0xfe, 0x00, 0x7b])),
  'a folder': (host, path) => void mkdirSync(host.at(path), { recursive: true }),
};
