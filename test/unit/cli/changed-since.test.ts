import t from 'tap';
import { changedSince } from '../../../cli/create/changed-since.ts';
import { liveIgnition } from '../../../cli/create/live-ignition.ts';
import { file } from '../../../lib/render/ignition/entries.ts';
import { cluster } from '../agents/host/cluster.ts';

const manifest = { path: 'manifests/one.yaml', contents: Buffer.from('one') };
const now = { cluster, pullSecret: '{"auths":{}}', manifests: [manifest], deferred: [] };
const authority = { certificate: 'c', key: 'k' };
const made = () =>
  liveIgnition({ ...now, authorities: { servingCa: authority, adminCa: authority }, units: [] });
const withFile = (path: string) => {
  const config = made();
  return {
    ...config,
    storage: {
      ...config.storage,
      files: [...(config.storage?.files ?? []), file(path, 0o600, 'x')],
    },
  };
};

t.test('manual additions to the Ignition are not changes of the folder', async (t) => {
  t.strictSame(changedSince(made(), cluster, now), []);
  for (const path of ['/etc/sno-agents/settings.json', '/etc/motd', '/root/.ssh/config']) {
    t.strictSame(changedSince(withFile(path), cluster, now), [], path);
  }
});

t.test('another install-config, pull secret or manifest is one', async (t) => {
  const found = (changes: Partial<typeof now>) =>
    changedSince(made(), cluster, { ...now, ...changes });
  t.strictSame(found({ cluster: { ...cluster, name: 'other' } }), ['name']);
  t.match(found({ pullSecret: '{"auths":{"a":{}}}' }).join(), /config\.json/);
  t.match(
    found({ manifests: [{ ...manifest, contents: Buffer.from('two') }] }).join(),
    /one\.yaml$/,
  );
  t.match(found({ manifests: [] }).join(), /one\.yaml$/, 'one that was deleted');
  t.match(
    found({
      manifests: [manifest, { path: 'openshift/two.yaml', contents: Buffer.from('two') }],
    }).join(),
    /two\.yaml$/,
    'one that was added',
  );
});
