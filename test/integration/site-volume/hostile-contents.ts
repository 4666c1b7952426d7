/** Media of a trusted signer whose contents are refused. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority } from '../../../lab/certificates/signed-now.ts';
import { encrypterTo, NOW, SITE } from '../../unit/relocation/site-volume/volumes.ts';
import type { Hostile } from './hostile-media.ts';
import type { Media } from './media.ts';

const { key } = await createAuthority('any', 1, NOW);
const aliases = Array.from({ length: 9 }, (_, at) =>
  at === 0 ? 'a0: &a0 [x,x,x,x,x,x,x,x,x]' : `a${at}: &a${at} [${`*a${at - 1},`.repeat(9)}]`,
).join('\n');

export function hostileContents({
  node,
  another,
  resign,
  replace,
  archive,
}: Media): readonly Hostile[] {
  const encrypted = { encrypter: encrypterTo(node.recipient) };
  return [
    {
      name: 'YAML whose aliases expand to millions',
      volume: { config: `${SITE}${aliases}\n` },
      found: /at most 50000 values, with aliases expanded/,
    },
    {
      name: 'manifests whose aliases expand to millions',
      volume: { more: { 'extra-manifests/a.yaml': aliases } },
      found: /extra-manifests cannot be applied/,
    },
    {
      name: 'a configuration with faults',
      volume: { config: `${SITE}hostnam: x\n` },
      found:
        /1 error in site-config\.yaml; nothing was changed\nsite-config\.yaml:4:1 hostnam: .* Did you mean hostname\?/,
    },
    {
      name: 'a configuration that this node cannot be',
      volume: { config: `${SITE}machine_networks: [10.128.0.0/16]\n` },
      found:
        /site-config\.yaml:4:20 machine_networks\[0\]: expected a network without the pods' network/,
    },
    {
      name: 'no configuration',
      change: async (folder) =>
        resign(folder, ({ files }) => ({
          files: files.filter(({ path }) => path !== 'site-config.yaml'),
        })),
      found: /the volume has no site-config\.yaml/,
    },
    {
      name: 'no administrator',
      change: (folder) =>
        resign(folder, ({ files }) => ({
          files: files.filter(({ path }) => path === 'site-config.yaml'),
        })),
      found: /does not say who is administrator/,
    },
    {
      name: 'a request that nobody has signed',
      change: (folder) => replace(folder, 'credentials/admin.csr', 'no request'),
      found: /credentials\/admin\.csr cannot be used/,
    },
    {
      name: 'a key in the clear',
      change: (folder) => replace(folder, 'certs/api.key', key),
      found: /has a private key or a token that is not encrypted; .* found certs\/api\.key/,
    },
    {
      name: 'a key in a Secret in the clear',
      change: (folder) =>
        replace(
          folder,
          'extra-manifests/s.yaml',
          `data: {k: ${Buffer.from(key).toString('base64')}}`,
        ),
      found:
        /has a private key or a token that is not encrypted; .* found extra-manifests\/s\.yaml/,
    },
    {
      name: 'manifests that are none',
      change: (folder) => replace(folder, 'extra-manifests/s.yaml', 'kind: [\n'),
      found: /extra-manifests\/s\.yaml:/,
    },
    {
      name: 'encrypted for another node',
      volume: encrypted,
      rules: { ageIdentity: another.identity },
      found: /site-volume\.age cannot be decrypted/,
    },
    {
      name: 'truncated age',
      volume: encrypted,
      change: async (folder) => {
        const bytes = readFileSync(join(folder, 'site-volume.age'));
        await replace(folder, 'site-volume.age', bytes.subarray(0, bytes.length - 100));
      },
      found: /site-volume\.age cannot be decrypted/,
    },
    {
      name: 'age that is none',
      volume: encrypted,
      change: (folder) => replace(folder, 'site-volume.age', Buffer.alloc(1000)),
      found: /site-volume\.age cannot be decrypted/,
    },
    ...(
      [
        [
          'a link in the archive',
          [{ name: 'site-config.yaml', type: 'symlink', linkname: '/etc/shadow' }],
        ],
        ['a device in the archive', [{ name: 'site-config.yaml', type: 'character-device' }]],
        ['a way out of the archive', [{ name: '../../etc/shadow' }]],
        ['a file twice in the archive', [{ name: 'a' }, { name: 'a' }]],
        [
          'too many files in the archive',
          Array.from({ length: 65 }, (_, at) => ({ name: `f${at}` })),
        ],
      ] as const
    ).map(
      ([name, entries]): Hostile => ({
        name,
        volume: encrypted,
        change: async (folder) => replace(folder, 'site-volume.age', await archive([...entries])),
        found: /site-volume\.age has something else than the files of a volume/,
      }),
    ),
  ];
}
