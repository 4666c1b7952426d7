/**
 * The reader of a release's tree, on what the operators of a real release have rendered. That is no
 * part of this repository: SNO_OPENSHIFT_RENDERED names a folder with it, as `/opt/openshift` is
 * after all stages.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { loadManifests } from '../../../lib/clients/kube/manifests.ts';
import { liveHost, neededBy } from '../../../lib/render/hosts.ts';
import { readTree } from '../../../lib/render/openshift/read-tree.ts';
import { stagesIn } from '../../../lib/render/openshift/stage.ts';
import { STAGES } from '../../../lib/render/openshift/stages.ts';
import { applyCopies, filesBelow } from '../../../lib/render/openshift/tree.ts';
import { installerFiles, writeFiles } from '../../unit/render/openshift/fake-podman.ts';

const rendered = process.env.SNO_OPENSHIFT_RENDERED;
const skip = rendered === undefined ? 'needs SNO_OPENSHIFT_RENDERED' : false;

t.test('the tree of a real release', { skip }, async (t) => {
  if (rendered === undefined) return;
  const folder = t.testdir();
  const tree = { assets: join(folder, 'assets'), host: join(folder, 'host') };
  writeFiles(tree.assets, installerFiles());
  const stages = stagesIn('4.21', STAGES);
  const made = new Set<string>();
  for (const { copies } of stages) {
    for (const { from, to } of copies) {
      if (to !== 'manifests' || from === undefined) continue;
      for (const file of await filesBelow(join(rendered, from))) made.add(file);
    }
  }
  // What no stage makes is openshift-install's.
  const own = (await filesBelow(join(rendered, 'manifests'))).filter((file) => !made.has(file));
  for (const file of own) {
    copyFileSync(join(rendered, 'manifests', file), join(tree.assets, 'manifests', file));
  }
  t.ok(own.includes('cluster-config.yaml'));
  for (const stage of stages) {
    const isThere = stage.name !== 'cmdbootline-nto-bootstrap';
    if (isThere) await applyCopies(stage, rendered, tree);
  }

  await t.test('its manifests are those that the shell flow puts together', async (t) => {
    const { manifests } = await readTree(tree);
    const real = new Map<string, string>();
    for (const file of await filesBelow(join(rendered, 'manifests'))) {
      real.set(file, readFileSync(join(rendered, 'manifests', file), 'utf8'));
    }
    const different = manifests.filter(
      ({ name, contents }) => real.has(name) && real.get(name) !== contents,
    );
    t.same(
      different.map(({ name }) => name),
      [],
    );
    const missing = [...real.keys()].filter(
      (name) => !manifests.some((manifest) => manifest.name === name),
    );
    // Rendered by two operators of 4.21.
    t.same(
      missing.filter((name) => !name.includes('rolebindingrestrictions')),
      [],
    );
  });

  await t.test('every manifest can be decoded, and no object is there twice', async (t) => {
    const { manifests } = await readTree(tree);
    const applied = Object.fromEntries(manifests.map(({ name, contents }) => [name, contents]));
    writeFiles(join(folder, 'applied'), applied);
    const { faults } = await loadManifests([join(folder, 'applied')]);
    t.same(
      faults.map((fault) =>
        fault.kind === 'duplicate'
          ? [basename(fault.first.file), basename(fault.manifest.file), fault.manifest.name]
          : [basename(fault.file), fault.reason],
      ),
      [],
    );
  });

  await t.test('its static pods have their roles', async (t) => {
    const { staticPods } = await readTree(tree);
    t.same(
      staticPods.map(({ component, role, container }) => [component, role, container]),
      [
        ['etcd', 'database', 'etcd'],
        ['machine-config-server', 'ignition-server', 'machine-config-server'],
        ['kube-apiserver', 'api-server', 'kube-apiserver'],
        ['kube-controller-manager', 'leader', 'kube-controller-manager'],
        ['kube-scheduler', 'leader', 'kube-scheduler'],
        ['cluster-version-operator', 'bootstrap', 'cluster-version-operator'],
      ],
    );
  });

  await t.test('its static pods find every folder that they mount', async (t) => {
    const { staticPods, directories, files } = await readTree(tree);
    const there = [
      ...neededBy(liveHost, directories).map(({ path }) => path),
      ...files.map(({ path }) => path),
      // The operating system's.
      '/etc/ssl/certs',
    ];
    for (const { component, manifest } of staticPods) {
      for (const [, path = ''] of manifest.matchAll(/path: "?(\/(?:etc|var)[^\s"]*)/g)) {
        const isThere = there.some((each) => each === path || each.startsWith(`${path}/`));
        if (!/\/(healthz|livez|readyz)/.test(path)) t.ok(isThere, `${component}: ${path}`);
      }
    }
  });
});
