import t from 'tap';
import { suggest } from '../../../../lib/base/errors/suggest.ts';

t.test('the name meant by a mistyped one', async (t) => {
  const table: [name: string, known: string[], expected: string | undefined][] = [
    // One edit of each kind, and none.
    ['machineNetwork', ['machineNetwork'], 'machineNetwork'],
    ['etcd', ['kubelet', 'etcdx'], 'etcdx'],
    ['etcdx', ['kubelet', 'etcd'], 'etcd'],
    ['etce', ['kubelet', 'etcd'], 'etcd'],
    // Two letters in the wrong order are one slip.
    ['dchp', ['dhcp'], 'dhcp'],
    ['dcph', ['dhcp'], undefined],
    // Differences that are easily overlooked cost nothing.
    ['MACHINE_NET-WORK', ['machineNetwork'], 'machineNetwork'],
    ['machineNetwork', ['Machine-Net_Work'], 'Machine-Net_Work'],
    // Up to a third of the letters may differ, and always one.
    ['abcdef', ['abcdxy'], 'abcdxy'],
    ['abcdef', ['abcxyz'], undefined],
    ['abcde', ['abcxy'], undefined],
    ['ab', ['ax'], 'ax'],
    ['ab', ['xy'], undefined],
    ['b', [''], ''],
    ['kitten', ['sitting'], undefined],
    ['saturday', ['sunday'], undefined],
    ['saturdays', ['sundays'], 'sundays'],
    // The closest match; the first of equally close ones.
    ['abcdefghi', ['abcdefxyz', 'abcdefghx'], 'abcdefghx'],
    ['abcdef', ['abcdex', 'abcdey'], 'abcdex'],
    ['etcd', [], undefined],
    ['x'.repeat(64), [`${'x'.repeat(64)}y`], `${'x'.repeat(64)}y`],
    ['x'.repeat(65), ['x'.repeat(65)], undefined],
  ];
  for (const [name, known, expected] of table) {
    t.equal(suggest(name, known), expected, `${name}: ${known}`);
  }
});
