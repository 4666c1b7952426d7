import t from 'tap';
import { whyNotInstalled } from '../../../../lib/cluster/openshift/installed.ts';
import { withConditions } from './states.ts';

const now = new Date('2030-01-01T01:00:00Z');
const LONG_AGO = '2030-01-01T00:59:29Z';
const JUST_NOW = '2030-01-01T00:59:31Z';
const version = withConditions('version', {
  Available: ['True'],
  Failing: ['False'],
  Progressing: ['False'],
});
const stable = withConditions('etcd', { Progressing: ['False', '', LONG_AGO] });

const cases: [title: string, ...Parameters<typeof whyNotInstalled>, missing: string[]][] = [
  ['all is well', version, [stable], now, []],
  ['no version', undefined, [stable], now, ['the ClusterVersion does not exist']],
  [
    'a version without conditions',
    withConditions('version', {}),
    [],
    now,
    ['the version has no condition Available'],
  ],
  [
    'not Available',
    withConditions('version', { Available: ['False', 'working'], Progressing: ['True'] }),
    [],
    now,
    ['the version has Available=False: working'],
  ],
  [
    'Failing',
    withConditions('version', {
      Available: ['True'],
      Failing: ['True', 'dns is degraded'],
      Progressing: ['False'],
    }),
    [],
    now,
    ['the version has Failing=True: dns is degraded'],
  ],
  [
    'Failing is not stated',
    withConditions('version', { Available: ['True'], Progressing: ['False'] }),
    [],
    now,
    ['the version has no condition Failing'],
  ],
  [
    'still Progressing',
    withConditions('version', {
      Available: ['True'],
      Failing: ['False'],
      Progressing: ['True', '80%'],
    }),
    [],
    now,
    ['the version has Progressing=True: 80%'],
  ],
  [
    'operators that progress, have just ended and say nothing',
    version,
    [
      stable,
      withConditions('dns', { Progressing: ['True', 'rolling out'] }),
      withConditions('ingress', { Progressing: ['False', '', JUST_NOW] }),
      withConditions('network', {}),
    ],
    now,
    [
      'dns has Progressing=True: rolling out',
      'ingress has just finished progressing',
      'network has no condition Progressing',
    ],
  ],
];

for (const [title, version, operators, at, missing] of cases) {
  t.test(`wait-for install-complete: ${title}`, async (t) => {
    t.same(whyNotInstalled(version, operators, at), missing);
  });
}
