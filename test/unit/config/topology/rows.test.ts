import t from 'tap';
import { installerChoices } from '../../../../lib/config/topology/installer.ts';
import { PLATFORMS, rowFor } from '../../../../lib/config/topology/row-for.ts';
import { PLATFORM_KINDS, ROWS, rowSchema } from '../../../../lib/config/topology/rows.ts';

const onMaster = { pool: 'master', replicas: 1, toleratesControlPlane: true };
const onWorkers = { pool: 'worker', replicas: 2, toleratesControlPlane: false };
const single = 'SingleReplica';
const high = 'HighlyAvailable';

/** The eight rows in order; `installer`: infrastructure topology, schedulable masters, placement. */
const EXPECTED = [
  {
    cell: ['no workers', 'none', '0', '0'],
    row: { infrastructureTopology: single, mastersSchedulable: true, ingress: onMaster },
    machineApproval: 'off',
    installer: [single, true, 'ControlPlane'],
  },
  {
    cell: ['no workers', 'cloud', '0', '0'],
    row: { infrastructureTopology: single, mastersSchedulable: true, ingress: onMaster },
    machineApproval: 'by-machine',
    installer: [single, true, 'Workers'],
  },
  {
    cell: ['one day-1 worker', 'none', '1', '1'],
    row: { infrastructureTopology: single, mastersSchedulable: false, ingress: onMaster },
    machineApproval: 'off',
    installer: [single, false, 'ControlPlane'],
  },
  {
    cell: ['one day-1 worker', 'cloud', '1', '1'],
    row: { infrastructureTopology: high, mastersSchedulable: true, ingress: onWorkers },
    machineApproval: 'by-machine',
    installer: [single, false, 'Workers'],
  },
  {
    cell: ['several day-1 workers', 'none', '2+', '2+'],
    row: { infrastructureTopology: single, mastersSchedulable: false, ingress: onMaster },
    machineApproval: 'off',
    installer: [high, false, 'ControlPlane'],
  },
  {
    cell: ['several day-1 workers', 'cloud', '2+', '2+'],
    row: { infrastructureTopology: high, mastersSchedulable: false, ingress: onWorkers },
    machineApproval: 'by-machine',
    installer: [high, false, 'Workers'],
  },
  {
    cell: ['day-2 workers only', 'none', '0', '1+'],
    row: { infrastructureTopology: single, mastersSchedulable: true, ingress: onMaster },
    machineApproval: 'off',
    installer: [single, true, 'ControlPlane'],
  },
  {
    cell: ['day-2 workers only', 'cloud', '0', '1+'],
    row: { infrastructureTopology: single, mastersSchedulable: true, ingress: onMaster },
    machineApproval: 'by-machine',
    installer: [single, true, 'Workers'],
  },
];

t.equal(ROWS.length, EXPECTED.length);
for (const [index, { cell, row, machineApproval, installer }] of EXPECTED.entries()) {
  t.test(cell.join(', '), async (t) => {
    const found = rowSchema.parse(ROWS[index]);
    const { scenario, platform, dayOneWorkers, dayTwoWorkers } = found;
    t.same([scenario, platform, dayOneWorkers, dayTwoWorkers], cell);
    t.equal(found.controlPlaneTopology, single);
    t.match(found, row);
    t.same(found.ingress, row.ingress);
    t.equal(found.machineApproval, machineApproval);
    const { infrastructureTopology, mastersSchedulable, defaultPlacement } = found.installer;
    t.same([infrastructureTopology, mastersSchedulable, defaultPlacement], installer);
    t.match(found.why, /^[A-Z].*\.$/);
  });
}

t.test('replicas that need two nodes have them', async (t) => {
  for (const { ingress, dayOneWorkers, mastersSchedulable, scenario } of ROWS) {
    if (ingress.replicas === 1) continue;
    t.equal(ingress.pool, 'worker', scenario);
    t.ok(dayOneWorkers === '2+' || mastersSchedulable, scenario);
  }
});

t.test('an ingress controller on a node with a taint tolerates it', async (t) => {
  const tainted = ROWS.filter(
    ({ ingress, mastersSchedulable }) => ingress.pool === 'master' && !mastersSchedulable,
  );
  t.equal(tainted.length, 2);
  for (const { ingress } of tainted) t.equal(ingress.toleratesControlPlane, true);
});

/** Workers of the installation and later ones, and the scenario. */
const APPLIES: readonly [compute: number, laterWorkers: number, scenario: string][] = [
  [0, 0, 'no workers'],
  [0, 1, 'day-2 workers only'],
  [0, 7, 'day-2 workers only'],
  [1, 0, 'one day-1 worker'],
  [1, 1, 'one day-1 worker'],
  [1, 9, 'one day-1 worker'],
  [2, 0, 'several day-1 workers'],
  [3, 0, 'several day-1 workers'],
  [2, 4, 'several day-1 workers'],
];

t.test('the row that applies', async (t) => {
  for (const platform of PLATFORM_KINDS) {
    for (const [compute, laterWorkers, scenario] of APPLIES) {
      t.match(
        rowFor({ platform, compute, laterWorkers }),
        { scenario, platform },
        `${compute} and ${laterWorkers} on ${platform}`,
      );
    }
  }
  t.throws(() => rowFor({ platform: 'none', compute: -1, laterWorkers: 0 }), /no row for .*-1/);
});

t.test('the platforms on which one control-plane node is installed', async (t) => {
  t.same(
    [...PLATFORMS].filter(([, kind]) => kind === 'none'),
    [['none', 'none']],
  );
  t.same([...PLATFORMS.keys()].toSorted(), [
    'aws',
    'azure',
    'external',
    'gcp',
    'ibmcloud',
    'none',
    'powervs',
  ]);
});

t.test('where openshift-install decides otherwise', async (t) => {
  const choices = (compute: number, platform: 'none' | 'cloud') =>
    installerChoices(rowFor({ platform, compute, laterWorkers: 0 }));
  t.same(choices(0, 'none'), []);
  t.same(choices(2, 'cloud'), []);
  t.same(choices(2, 'none'), [
    { field: 'infrastructureTopology', expected: single, installer: high },
  ]);
  t.same(choices(1, 'cloud'), [
    { field: 'infrastructureTopology', expected: high, installer: single },
    { field: 'mastersSchedulable', expected: true, installer: false },
  ]);
  const placement = { field: 'defaultPlacement', expected: 'ControlPlane', installer: 'Workers' };
  t.same(choices(0, 'cloud'), [placement]);
});
