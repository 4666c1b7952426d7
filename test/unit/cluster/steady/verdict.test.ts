import t from 'tap';
import { leftMs } from '../../../../lib/base/wait/unchanged.ts';
import { moving, unknown } from '../../../../lib/cluster/steady/finding.ts';
import {
  nextSettling,
  nothingSeen,
  type Settling,
  verdictOf,
  verdictSchema,
  verdictText,
} from '../../../../lib/cluster/steady/verdict.ts';

const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1) + seconds * 1000);
const quiet = { findings: [], facts: [['Pod a/b manifest', 'h']] as const };
const windowMs = 30_000;

const through = (
  ...seen: [seconds: number, judgement: Parameters<typeof nextSettling>[2]][]
): Settling =>
  seen.reduce((state, [seconds, judged]) => nextSettling(state, at(seconds), judged), nothingSeen);
const stateAt = (settling: Settling, seconds: number) =>
  verdictOf(settling, { now: at(seconds), windowMs, bootId: 'b' });

t.test('the window', async (t) => {
  t.equal(leftMs(nothingSeen, at(0), windowMs), undefined, 'nothing was seen');
  t.equal(stateAt(through([0, quiet], [29, quiet]), 29).state, 'settling');
  t.match(stateAt(through([0, quiet], [30, quiet]), 30), {
    state: 'steady',
    since: '2030-01-01T00:00:00.000Z',
    windowSeconds: 30,
  });
  const changed = { findings: [], facts: [['Pod a/b manifest', 'i']] as const };
  const again = through([0, quiet], [20, changed], [40, changed]);
  t.equal(stateAt(again, 40).state, 'settling', 'a change starts it again');
  t.same(stateAt(again, 40).changed, ['Pod a/b manifest: h -> i']);
  t.equal(stateAt(through([0, quiet], [20, changed], [50, changed]), 50).state, 'steady');
  const gone = { findings: [], facts: [] };
  t.same(stateAt(through([0, quiet], [1, gone]), 1).changed, ['Pod a/b manifest: h -> none']);
  t.equal(stateAt(through([0, gone], [29, quiet], [31, quiet]), 31).state, 'settling', 'a new one');
});

t.test('what is found', async (t) => {
  const found = (...findings: Parameters<typeof nextSettling>[2]['findings'][number][]) => ({
    findings,
    facts: quiet.facts,
  });
  const pod = moving('Pod a/b', 'is not ready', 'of ReplicaSet b');
  const version = unknown('ClusterVersion version', 'is old');
  t.equal(stateAt(through([0, quiet], [40, found(pod)]), 40).state, 'moving');
  t.equal(stateAt(through([0, found(pod, version)]), 40).state, 'unknown', 'never steady');
  t.equal(stateAt(through([0, found(pod)], [40, quiet]), 40).state, 'settling', 'it starts again');
  t.equal(
    verdictText(stateAt(through([0, found(pod, version)]), 1)),
    'Unknown: Pod a/b is not ready (of ReplicaSet b); ClusterVersion version is old',
  );
  const verdict = stateAt(through([0, found(pod)]), 1);
  t.same(verdictSchema.parse(JSON.parse(JSON.stringify(verdict))), verdict);
  t.equal('since' in verdict, false);
});
