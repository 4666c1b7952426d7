/** Media that are refused, each with its reason. */
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { signText } from '../../../lib/pki/signature/ssh-signature.ts';
import type { VolumeRules } from '../../../lib/relocation/site-volume/volume.ts';
import { type aVolume, NOW, SITE } from '../../unit/relocation/site-volume/volumes.ts';
import { limits, type Media } from './media.ts';

export interface Hostile {
  readonly name: string;
  readonly volume?: Parameters<typeof aVolume>[0];
  readonly change?: (folder: string) => unknown;
  readonly rules?: Partial<VolumeRules>;
  readonly found: RegExp;
}

const file = (folder: string) => join(folder, 'site-config.yaml');

/** Signature, node, time, and what lies on the medium. */
export const hostileMedia = ({ integrator, stranger, resign }: Media): readonly Hostile[] => [
  {
    name: 'not signed',
    volume: { sign: undefined },
    found: /the volume is not signed/,
  },
  {
    name: 'signed by a stranger',
    volume: { sign: stranger.sign },
    found: /not signed by an allowed key/,
  },
  {
    name: 'signed by a stranger where signatures are not required',
    volume: { sign: stranger.sign },
    rules: { unsignedAllowed: true },
    found: /not signed by an allowed key/,
  },
  {
    name: 'signed for another purpose',
    volume: {
      sign: (text) => signText(text, integrator.path, { namespace: 'sno-agents-update' }, limits),
    },
    found: /not signed by an allowed key/,
  },
  {
    name: 'a manifest changed after it was signed',
    change: (folder) => {
      const path = join(folder, 'site-volume.json');
      writeFileSync(path, readFileSync(path, 'utf8').replace('"serial": 7', '"serial": 8'));
    },
    found: /not signed by an allowed key/,
  },
  {
    name: 'no key is allowed to sign',
    rules: { allowedSigners: [] },
    found: /no key is known that may sign site volumes/,
  },
  {
    name: 'a bare configuration',
    change: (folder) => rmSync(join(folder, 'site-volume.json')),
    found: /has no site-volume\.json/,
  },
  {
    name: 'a replayed volume',
    rules: { used: [{ serial: 8, sha256: 'a'.repeat(64) }] },
    found: /used before, or an earlier one; expected a serial above 8; found 7/,
  },
  {
    name: 'another volume of the same serial',
    rules: { used: [{ serial: 7, sha256: 'a'.repeat(64) }] },
    found: /expected a serial above 7/,
  },
  {
    name: 'an expired volume',
    volume: { validUntil: new Date(NOW.getTime() + 1) },
    rules: { now: new Date(NOW.getTime() + 9e6) },
    found: /has expired/,
  },
  {
    name: 'for another node',
    volume: { hosts: ['other'] },
    found:
      /for another node; expected one of cz1234abcd, 52:54:00:12:34:56 in its hosts; found other/,
  },
  {
    name: 'a file that was changed',
    change: (folder) => writeFileSync(file(folder), SITE.replace('shop', 'sh0p')),
    found: /site-config\.yaml of the volume is not what its manifest says; expected SHA-256/,
  },
  {
    name: 'a file that is shorter',
    change: (folder) => truncateSync(file(folder), 10),
    found: /is not what its manifest says/,
  },
  {
    name: 'a file that is longer',
    change: (folder) => writeFileSync(file(folder), `${SITE}# more\n`),
    found: /site-config\.yaml of the volume is not used; expected at most/,
  },
  {
    name: 'a file that is missing',
    change: (folder) => rmSync(file(folder)),
    found: /found no such file/,
  },
  {
    name: 'a link to a file of the host',
    change: (folder) => {
      rmSync(file(folder));
      symlinkSync('/etc/hostname', file(folder));
    },
    found: /expected a regular file; found a link/,
  },
  {
    name: 'a link to a good file',
    change: (folder) => {
      renameSync(file(folder), join(folder, 'real.yaml'));
      symlinkSync('real.yaml', file(folder));
    },
    found: /found a link/,
  },
  {
    name: 'a folder that is a link',
    change: (folder) => {
      renameSync(join(folder, 'credentials'), join(folder, 'real'));
      symlinkSync('real', join(folder, 'credentials'));
    },
    found: /credentials\/admin\.csr of the volume is not used.*found a link/,
  },
  {
    name: 'a manifest that is a link',
    change: (folder) => {
      renameSync(join(folder, 'site-volume.json'), join(folder, 'real.json'));
      symlinkSync('real.json', join(folder, 'site-volume.json'));
    },
    found: /site-volume\.json of the volume is not used.*found a link/,
  },
  {
    name: 'a device',
    change: async (folder) => {
      rmSync(file(folder));
      await execa('mknod', [file(folder), 'c', '1', '5']);
    },
    found: /found a device/,
  },
  {
    name: 'a pipe without a writer',
    change: async (folder) => {
      rmSync(file(folder));
      await execa('mkfifo', [file(folder)]);
    },
    found: /found a device, a pipe or a socket/,
  },
  {
    name: 'a folder instead of a file',
    change: (folder) => {
      rmSync(file(folder));
      mkdirSync(file(folder));
    },
    found: /found a folder/,
  },
  {
    name: 'a sparse file of 10 GB',
    change: (folder) => truncateSync(file(folder), 10 * 2 ** 30),
    found: /expected at most \d+ bytes; found 10737418240/,
  },
  {
    name: 'a sparse manifest of 10 GB',
    change: (folder) => truncateSync(join(folder, 'site-volume.json'), 10 * 2 ** 30),
    found: /site-volume\.json of the volume is not used; expected at most 65536 bytes/,
  },
  {
    name: 'a manifest that lists 10 GB',
    change: (folder) =>
      resign(folder, ({ files }) => ({
        files: files.map((each) => ({ ...each, bytes: 10 * 2 ** 30 })),
      })),
    found: /is not the manifest of a site volume/,
  },
  {
    name: 'a manifest that lists too many files',
    change: (folder) =>
      resign(folder, ({ files: [first] }) => ({
        files: Array.from({ length: 65 }, (_, at) => ({ ...first, path: `f${at}` })),
      })),
    found: /expected a list of at most 64 entries/,
  },
  ...[
    '../outside',
    '/etc/shadow',
    'a/../../b',
    'a\nb',
    'site-volume.json',
    '.hidden',
    'a//b',
    '',
  ].map(
    (path): Hostile => ({
      name: `a manifest that lists ${JSON.stringify(path)}`,
      change: (folder) => resign(folder, ({ files: [first] }) => ({ files: [{ ...first, path }] })),
      found: /expected a path below the volume/,
    }),
  ),
  {
    name: 'a manifest that lists a file twice',
    change: (folder) => resign(folder, ({ files }) => ({ files: [...files, ...files] })),
    found: /a file is named twice/,
  },
  {
    name: 'a manifest of a later format',
    change: (folder) => resign(folder, () => ({ formatVersion: 2 })),
    found: /formatVersion 1/,
  },
  {
    name: 'a manifest with unknown fields',
    change: (folder) => resign(folder, () => ({ run: 'reboot' })),
    found: /unknown field "run"/,
  },
  {
    name: 'no JSON',
    change: async (folder) => {
      const path = join(folder, 'site-volume.json');
      writeFileSync(path, 'serial: 7\n');
      writeFileSync(`${path}.sig`, await integrator.sign('serial: 7\n'));
    },
    found: /is not the manifest of a site volume/,
  },
];
