/** Which releases of OpenShift and OKD are taken over. */
import t from 'tap';
import { clusterSchema } from '../../../../lib/config/cluster/cluster.ts';
import type { IgnitionConfig } from '../../../../lib/render/ignition/config.ts';
import { sno } from '../run-sno.ts';
import { clusterVersion, file, installerIgnition } from './installer-ignition.ts';
import { contents, read, takeOver } from './taking-over.ts';

const INSTALLER_VERSION = '/opt/openshift/openshift/openshift-install-manifests.yaml';

/** The config of the newest installer that is known, as one of this version would write it. */
async function builtAs(version: string, channel: string): Promise<IgnitionConfig> {
  const source = await installerIgnition('4.21');
  const text = (data: object) => JSON.stringify({ kind: 'ConfigMap', data });
  const files = new Map((source.storage?.files ?? []).map((each) => [each.path, each]));
  for (const each of [
    file(INSTALLER_VERSION, text({ invoker: 'user', version })),
    file('/opt/openshift/manifests/cvo-overrides.yaml', clusterVersion(channel)),
  ]) {
    files.set(each.path, each);
  }
  return { ...source, storage: { ...source.storage, files: [...files.values()] } };
}

for (const [version, channel, says] of [
  ['v4.22.1', 'stable-4.22', 'OpenShift 4.22'],
  ['5.0.0-ec.1', 'candidate-5.0', 'OpenShift 5.0'],
  ['unreleased-main-1-gabc', 'stable-4.20', 'OpenShift 4.20'],
  ['4.21.0-okd-scos.3', 'stable-4', 'OKD 4.21'],
] as const) {
  t.test(`${version} is ${says}`, async (t) => {
    const taken = await takeOver(t, await builtAs(version, channel));
    t.equal(taken.code, 0, taken.err);
    t.match(taken.out, `Control plane: ${says}, from the release image`);
    const { openshift } = clusterSchema.parse(
      JSON.parse(contents(await read(taken), '/etc/sno-agents/cluster.json')),
    );
    t.equal(openshift?.version, says.split(' ')[1]);
    t.notOk(openshift?.unknownReleaseAccepted);
  });
}

t.test('an unknown newer release: refused, or accepted for the host as well', async (t) => {
  const config = await builtAs('5.1.0', 'stable-5.1');
  const refused = await takeOver(t, config);
  t.equal(refused.code, 2);
  t.match(refused.err, /expected OpenShift 4\.14 to 5\.0.*found 5\.1\.0.*--accept-unknown-release/);
  t.same(refused.left, [], 'nothing was written');
  const taken = await takeOver(t, config, { args: ['--accept-unknown-release'] });
  t.equal(taken.code, 0, taken.err);
  t.match(taken.err, /Notice: .*5\.1\.0 is unknown to taking over.*treated as 5\.0/);
  t.match(JSON.parse(contents(await read(taken), '/etc/sno-agents/cluster.json')), {
    openshift: { version: '5.1', unknownReleaseAccepted: true },
  });
});

t.test(
  'an older release, and OKD that has no release, are refused whatever is accepted',
  async (t) => {
    for (const [version, channel] of [
      ['4.13.9', 'stable-4.13'],
      ['unreleased', 'stable-scos-4'],
    ] as const) {
      const args = ['--accept-unknown-release'];
      const refused = await takeOver(t, await builtAs(version, channel), { args });
      t.equal(refused.code, 2, version);
      t.match(refused.err, /Use one of these releases/);
    }
  },
);

t.test('without --from-ignition the option says nothing', async (t) => {
  const args = ['--dir', t.testdir(), '--accept-unknown-release'];
  const { code, err } = await sno(['create', 'single-node-ignition-config', ...args]);
  t.equal(code, 2);
  t.match(err, /--accept-unknown-release: only with --from-ignition/);
});
