/** Where /var of a system that does not run is: one for each stateroot, and the one that boots. */
import { join } from 'node:path';
import t from 'tap';
import { findMarker } from '../../../lib/cluster/installation/marker.ts';
import { bootEntries, bootingVar, varFolders } from '../../../lib/host/var-folders.ts';

t.test('the location of /var in a mounted system', async (t) => {
  const root = t.testdir({
    coreos: { ostree: { deploy: { 'rhel-coreos': {} } } },
    two: { ostree: { deploy: { '.lock': '', default: {}, 'fedora-coreos': {} } } },
    composefs: { state: { os: { default: {} }, deploy: {} } },
    empty: { ostree: { deploy: {} } },
    plain: {},
  });
  const found = async (name: string) =>
    (await varFolders(join(root, name))).map(({ path }) => path.slice(join(root, name).length + 1));
  t.same(await found('coreos'), ['ostree/deploy/rhel-coreos/var']);
  t.same((await found('two')).toSorted(), [
    'ostree/deploy/default/var',
    'ostree/deploy/fedora-coreos/var',
  ]);
  t.same(await found('composefs'), ['state/os/default/var']);
  t.same(await found('empty'), ['var']);
  t.same(await found('plain'), ['var']);
});

const entry = (version: number, stateroot: string) =>
  `title CoreOS\nversion ${version}\noptions root=LABEL=root ostree=/ostree/boot.1/${stateroot}/4f2e/0 rw\nlinux /ostree/x\n`;
const TWO = [
  { path: '/r/ostree/deploy/a/var', stateroot: 'a' },
  { path: '/r/ostree/deploy/b/var', stateroot: 'b' },
];

t.test('of several, the one that boots', async (t) => {
  const unasked = async () => {
    throw new Error('one needs no boot loader');
  };
  t.equal(await bootingVar([{ path: '/r/var' }], unasked), '/r/var');
  t.equal(
    await bootingVar(TWO, async () => [entry(1, 'a'), entry(10, 'b'), entry(9, 'a')]),
    TWO[1]?.path,
  );
  t.equal(await bootingVar(TWO, async () => [entry(2, 'a'), entry(1, 'b')]), TWO[0]?.path);
  for (const entries of [[], ['title x\noptions root=LABEL=root\n'], [entry(1, 'c')]]) {
    await t.rejects(
      bootingVar(TWO, async () => entries),
      {
        kind: 'fatal',
        message: /several systems.*of one of a, b/,
      },
    );
  }
});

t.test('the entries of the boot loader', async (t) => {
  const boot = t.testdir({
    'loader.1': {
      entries: { 'ostree-1-a.conf': entry(1, 'a'), 'ostree-2-b.conf': entry(2, 'b'), x: '' },
    },
    loader: t.fixture('symlink', 'loader.1'),
  });
  t.same((await bootEntries(boot)).toSorted(), [entry(1, 'a'), entry(2, 'b')].toSorted());
  t.same(await bootEntries(join(boot, 'loader.1')), []);
});

const marker = (clusterId: string, state: string) =>
  JSON.stringify({ clusterId, cluster: 'c.test', state, at: '2030-01-01T00:00:00Z' });
const systems = (systems: Readonly<Record<string, string>>) => ({
  ostree: {
    deploy: Object.fromEntries(
      Object.entries(systems).map(([name, text]) => [
        name,
        { var: { lib: { 'sno-agents': { 'installation.json': text } } } },
      ]),
    ),
  },
});

t.test(
  'a finished installation of this cluster is found in whichever stateroot it is',
  async (t) => {
    const root = t.testdir(
      systems({
        a: marker('other', 'finished'),
        b: marker('this', 'finished'),
        c: marker('this', 'writing'),
      }),
    );
    t.match(await findMarker(root, 'this'), {
      folder: join(root, 'ostree/deploy/b/var'),
      marker: { clusterId: 'this', state: 'finished' },
    });
    t.match(await findMarker(root, 'unknown'), { marker: { clusterId: 'other' } });
    t.equal(await findMarker(join(root, 'ostree'), 'this'), undefined);
  },
);
