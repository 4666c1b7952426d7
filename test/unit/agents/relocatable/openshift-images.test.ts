/** Images that no pod names: found, pinned and judged; and what OLM has installed. */
import t from 'tap';
import { unitImages } from '../../../../agents/reconfigure/openshift/unit-images.ts';
import { pinnedPath } from '../../../../agents/reconfigure/prepare/openshift/pinned-images.ts';
import { installedOperators } from '../../../../agents/reconfigure/validate/operators.ts';
import { withLocalAdministrator } from '../../../../lib/render/openshift/installed-access.ts';
import { listOf, refuse } from '../host/api.ts';
import { openShiftApi, openShiftHost, prepare, RUNTIMECFG } from './openshift-host.ts';

const CURRENT = '/etc/machine-config-daemon/currentconfig';
const PAUSE = `registry.test:5000/ocp/pod@sha256:${'b'.repeat(64)}`;
const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };

t.test('images of units, scripts and CRI-O, each once', async (t) => {
  const host = openShiftHost(t);
  const files = ['/etc/crio/crio.conf.d/00-default', '/usr/local/bin/pull.sh', '/etc/motd'];
  const units = ['nodeip-configuration.service', 'machine-config-daemon-pull.service'];
  const config = {
    storage: { files: files.map((path) => ({ path })) },
    systemd: { units: units.map((name) => ({ name })) },
  };
  host.write(CURRENT, JSON.stringify({ spec: { config } }));
  host.write('/etc/crio/crio.conf.d/00-default', `pause_image = "${PAUSE}"\n`);
  host.write('/usr/local/bin/pull.sh', `podman image exists "${RUNTIMECFG}"\n`);
  host.write('/etc/motd', `of nobody: registry.test/x@sha256:${'c'.repeat(64)}\n`);
  t.same(await unitImages(host.paths), [
    { image: PAUSE, path: '/etc/crio/crio.conf.d/00-default' },
    { image: RUNTIMECFG, path: '/usr/local/bin/pull.sh' },
  ]);
});

t.test('they are pinned, and CRI-O reads it', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host);
  t.match(await prepare(host), { code: 0 });
  t.match(host.read(pinnedPath), `[crio.image]\npinned_images = [\n  "${RUNTIMECFG}",\n]\n`);
  t.equal(host.read('/reloaded'), host.read(pinnedPath), 'reloaded with the file in its place');
  t.match(await prepare(host, '--undo'), { code: 0 });
  t.notOk(host.has(pinnedPath));
  t.notOk(host.has('/reloaded'), 'reloaded without it');
});

t.test("the list of a PinnedImageSet is the cluster's", async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host);
  host.write('/etc/crio/crio.conf.d/50-pinned-images', '[crio.image]\n');
  const { code, text } = await prepare(host);
  t.equal(code, 0);
  t.match(text, `counts instead: add ${RUNTIMECFG} to it`);
});

const olm = '/apis/operators.coreos.com/v1alpha1';

t.test('operators that OLM has not finished, and catalogs that poll', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(
    t,
    host,
    {},
    {
      [`GET ${olm}/clusterserviceversions`]: ({ query }) => {
        t.equal(query.get('labelSelector'), '!olm.copiedFrom', 'no copies');
        return listOf(
          { metadata: { namespace: 'a', name: 'good.v1' }, status: { phase: 'Succeeded' } },
          {
            metadata: { namespace: 'a', name: 'bad.v1' },
            status: { phase: 'Failed', message: 'x' },
          },
          { metadata: { namespace: 'a', name: 'new.v1' } },
        );
      },
      [`GET ${olm}/catalogsources`]: () =>
        listOf(
          {
            metadata: { namespace: 'm', name: 'polls' },
            spec: {
              image: 'registry.test/catalog:v1',
              updateStrategy: { registryPoll: { interval: '10m' } },
            },
          },
          {
            metadata: { namespace: 'm', name: 'still' },
            spec: { image: 'registry.test/c@sha256:1' },
          },
        ),
    },
  );
  const found = await withLocalAdministrator(host.paths, (client) =>
    installedOperators(client, limits),
  );
  t.match(found.faults, [/a\/bad\.v1 is Failed \(x\)/, /a\/new\.v1 is of no phase/]);
  t.match(found.notes, [/m\/polls polls .*registry\.test\/catalog:v1 every 10m/]);
  t.same([found.faults.length, found.notes.length], [2, 1]);
});

t.test('a cluster without OLM', async (t) => {
  const host = openShiftHost(t);
  const none = () => refuse(404, 'no such resource', 'NotFound');
  await openShiftApi(
    t,
    host,
    {},
    {
      [`GET ${olm}/clusterserviceversions`]: none,
      [`GET ${olm}/catalogsources`]: none,
    },
  );
  const found = await withLocalAdministrator(host.paths, (client) =>
    installedOperators(client, limits),
  );
  t.same(found, { faults: [], notes: [] });
});

t.test('an API that does not say is no cluster without OLM', async (t) => {
  for (const unsaid of ['clusterserviceversions', 'catalogsources']) {
    const host = openShiftHost(t);
    const answers = ['clusterserviceversions', 'catalogsources'].map((plural) => [
      `GET ${olm}/${plural}`,
      () => (plural === unsaid ? refuse(403, 'not by you', 'Forbidden') : listOf()),
    ]);
    await openShiftApi(t, host, {}, Object.fromEntries(answers));
    const found = withLocalAdministrator(host.paths, (client) =>
      installedOperators(client, limits),
    );
    await t.rejects(found, { message: /not by you/ }, unsaid);
  }
});
