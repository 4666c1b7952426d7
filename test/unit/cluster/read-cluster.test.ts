import { mkdirSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { readCluster, readInstallableCluster } from '../../../lib/cluster/read-cluster.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { input } from '../render/rendered-host.ts';

const { installation, ...withoutDisk } = input.cluster;

function hostWith(root: string, text?: string) {
  const paths = hostPaths(root);
  mkdirSync(paths.config, { recursive: true });
  if (text !== undefined) writeFileSync(`${paths.config}/cluster.json`, text);
  return paths;
}

t.test('a host with a disk to write', async (t) => {
  const paths = hostWith(t.testdir(), JSON.stringify({ ...withoutDisk, installation }));
  t.same(await readCluster(paths), input.cluster);
  t.same(await readInstallableCluster(paths), input.cluster);
});

t.test(
  'a host without one can be described too, but a plan that writes a disk does not run on it',
  async (t) => {
    const paths = hostWith(t.testdir(), JSON.stringify(withoutDisk));
    t.same(await readCluster(paths), withoutDisk);
    await t.rejects(readInstallableCluster(paths), {
      kind: 'usage',
      message: /cluster\.json does not name a disk.*field installation/,
    });
  },
);

for (const [name, text, message] of [
  ['is missing', undefined, /cluster\.json does not exist/],
  ['is no JSON', '{', /cluster\.json cannot be used/],
  [
    'has a field of no meaning',
    JSON.stringify({ ...withoutDisk, instalation: installation }),
    /"instalation"/,
  ],
  [
    'lacks the disk itself',
    JSON.stringify({ ...withoutDisk, installation: { ...installation, disk: undefined } }),
    /installation\.disk/,
  ],
] as const) {
  t.test(`a description that ${name} is refused, and the field named`, async (t) => {
    const paths = hostWith(t.testdir(), text);
    await t.rejects(readCluster(paths), { kind: 'usage', message });
    await t.rejects(readInstallableCluster(paths), { kind: 'usage', message });
  });
}
