import { mkdirSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { openShiftRelease } from '../../../../lib/config/cluster/cluster.ts';
import {
  readCluster,
  readInstallableCluster,
} from '../../../../lib/config/cluster/read-cluster.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { input } from '../../render/rendered-host.ts';

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

const openshift = {
  releaseImage: 'registry.example/ocp/release@sha256:abc',
  version: '4.19',
  clusterId: '9b916f64-a421-4a54-8d8c-45b4d4658de7',
  infrastructureName: 'sno-qkgrs',
  platform: 'none',
};

t.test('an OpenShift cluster names its release', async (t) => {
  const text = JSON.stringify({ ...withoutDisk, controlPlane: 'openshift', openshift });
  t.same(openShiftRelease(await readCluster(hostWith(t.testdir(), text))), openshift);
  t.throws(() => openShiftRelease(input.cluster), {
    kind: 'usage',
    message: /no OpenShift release.*controlPlane kubernetes/,
  });
});

for (const [name, text, message] of [
  [
    'has an OpenShift release for another control plane',
    JSON.stringify({ ...withoutDisk, openshift }),
    / openshift: must exist if and only if controlPlane is openshift/,
  ],
  [
    'is of an OpenShift cluster without a release',
    JSON.stringify({ ...withoutDisk, controlPlane: 'openshift' }),
    /must exist if and only if controlPlane is openshift/,
  ],
  [
    'seals keys that operators of OpenShift write',
    JSON.stringify({ ...withoutDisk, controlPlane: 'openshift', openshift, sealSecrets: 'tpm2' }),
    / sealSecrets: must not exist on OpenShift, whose operators write /,
  ],
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
