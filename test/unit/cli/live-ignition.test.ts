import t from 'tap';
import {
  EMBED_AREA_BYTES,
  embeddedBytes,
  requireEmbeddable,
} from '../../../cli/create/embed-area.ts';
import { liveIgnition } from '../../../cli/create/live-ignition.ts';
import { createLaptopAuthorities } from '../../../lab/certificates/signed-now.ts';
import { clusterSchema } from '../../../lib/config/cluster/cluster.ts';
import { configOf, file } from '../../../lib/render/ignition/entries.ts';
import { liveUnits } from '../../../units/live.ts';
import { noise } from './noise.ts';

t.test('the same input produces the same Ignition', async (t) => {
  const authorities = await createLaptopAuthorities();
  const cluster = clusterSchema.parse({
    apiVersion: 'sno-agents/v1',
    clusterId: '6f1c2a52-94d4-4c5b-9f4f-0c38e0a3b1aa',
    controlPlane: 'kubernetes',
    name: 'sno',
    baseDomain: 'example.com',
    machineNetwork: ['10.0.0.0/16'],
    clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
    serviceNetwork: ['172.30.0.0/16'],
    installation: { disk: '/dev/vda', coreosInstallerArgs: [], existingSystem: 'refuse' },
    executableSha256: 'a'.repeat(64),
  });
  const manifests = [
    { path: 'manifests/b.yaml', contents: Buffer.from('b') },
    { path: 'manifests/a.yaml', contents: Buffer.from('a') },
  ];
  const input = {
    cluster,
    authorities,
    pullSecret: '{"auths":{}}',
    deferred: [],
    units: liveUnits,
  };
  const one = liveIgnition({ ...input, manifests });
  const other = liveIgnition({
    ...input,
    manifests: manifests.toReversed(),
    units: liveUnits.toReversed(),
  });
  t.equal(JSON.stringify(one), JSON.stringify(other));
  t.equal(one.passwd, undefined, 'without a key there is no user');
  t.notOk(one.storage?.files?.some(({ path }) => path === '/etc/hostname'));
  const links = new Map(one.storage?.links?.map(({ path, target }) => [path, target]));
  t.match(Object.fromEntries(links), {
    '/etc/issue.d/30-sno-agents.issue': '/run/sno-agents/console.issue',
    '/usr/local/bin/bootkube': '/var/lib/sno-agents/bin/sno-agents',
    '/usr/local/bin/progress': '/var/lib/sno-agents/bin/sno-agents',
    '/usr/local/bin/sno-agents': '/var/lib/sno-agents/bin/sno-agents',
    '/var/lib/sno-agents/bin/install-to-disk': 'sno-agents',
  });
  const catalog = '/usr/local/lib/systemd/catalog/sno-agents.catalog';
  t.ok(one.storage?.files?.some(({ path, mode }) => path === catalog && mode === 0o644));
});

t.test('the size in the embed area is never too low', async (t) => {
  const signal = AbortSignal.timeout(60_000);
  t.ok((await embeddedBytes('x'.repeat(3_000_000), signal)) < EMBED_AREA_BYTES / 10);
  t.ok((await embeddedBytes(noise(600_000), signal)) > EMBED_AREA_BYTES);
  const big = file('/opt/openshift/manifests/big.yaml', 0o644, noise(400_000));
  const config = configOf({ files: [file('/small', 0o644, 'a'), big] });
  t.throws(() => requireEmbeddable(config, EMBED_AREA_BYTES + 1), {
    kind: 'usage',
    message:
      /does not fit the live ISO: 257 KiB compressed[\s\S]*\n {2}\/opt\/openshift\/manifests\/big\.yaml/,
  });
  t.doesNotThrow(() => requireEmbeddable(config, EMBED_AREA_BYTES));
});
