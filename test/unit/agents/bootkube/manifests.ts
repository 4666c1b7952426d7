import { readdirSync } from 'node:fs';
import t from 'tap';
import { manifests } from '../../../../agents/steps/manifests.ts';
import { type HostIdentity, saveRendered } from '../../../../lib/render/store.ts';
import { liveHost } from '../live-host.ts';

const rendered = {
  directories: [],
  files: [],
  staticPods: [],
  leases: [],
  manifests: [{ name: '10-now.yaml', contents: 'kind: Namespace\n' }],
};

const identity: HostIdentity = { hostname: 'sno', nodeIps: ['192.0.2.10'] };

t.test('what an earlier attempt rendered does not stay among the manifests', async (t) => {
  const host = liveHost(t.testdir());
  const folder = `${host.paths.assets}/rendered-manifests`;
  host.write(`${folder}/00-earlier.yaml`, 'kind: ConfigMap\n');
  await saveRendered(host.paths, 'input', identity, rendered);
  // There is no API here: what is looked at is what would have been applied.
  await t.rejects(async () => manifests.run(host.context, host.progress()));
  t.same(readdirSync(folder), ['10-now.yaml']);
});

t.test('a changed manifest of the user runs the step again', async (t) => {
  const host = liveHost(t.testdir());
  await saveRendered(host.paths, 'input', identity, rendered);
  const input = async () => JSON.stringify(await manifests.input(host.context));
  const before = await input();
  t.equal(await input(), before, 'unchanged: the same');
  const manifest = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n';
  host.write(`${host.paths.assetsManifests}/10-shop.yaml`, manifest);
  t.not(await input(), before);
});
