import t from 'tap';
import { isAfter, nodeReady } from '../../../../lib/clients/kube/node-ready.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { startFakeApi } from './fake-api.ts';
import { stopClock } from './stopped-clock.ts';

const bootTime = new Date('2030-01-01T00:00:10.500Z');

t.test('API times have whole seconds', async (t) => {
  const times: [time: string | null | undefined, isAfter: boolean][] = [
    ['2030-01-01T00:00:09Z', false],
    ['2030-01-01T00:00:09.999Z', false],
    ['2030-01-01T00:00:10Z', true],
    ['2030-01-01T01:00:10+01:00', true],
    ['2030-01-01T00:00:11Z', true],
    [null, false],
    [undefined, false],
  ];
  for (const [time, expected] of times) t.equal(isAfter(time, bootTime), expected, `${time}`);
});

const node = (name: string, status: string, lastHeartbeatTime: string) => ({
  metadata: { name },
  status: { conditions: [{ type: 'Ready', status, message: 'no network', lastHeartbeatTime }] },
});
const BEFORE = '2030-01-01T00:00:09Z';
const AFTER = '2030-01-01T00:00:10Z';

t.test('a node is Ready if its kubelet has reported it since the boot', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.set('/api/v1/nodes/n2', node('n2', 'True', AFTER));
  const states = [
    node('n1', 'True', BEFORE),
    node('n1', 'False', AFTER),
    node('n1', 'True', AFTER),
  ];
  const reports: string[] = [];
  const ready = await nodeReady(client, 'n1', {
    signal: new AbortController().signal,
    deadlineMs: 60_000,
    bootTime,
    report: (text) => {
      reports.push(text);
      const [next] = states.splice(0, 1);
      if (next !== undefined) api.set('/api/v1/nodes/n1', next);
    },
  });
  t.match(ready, node('n1', 'True', AFTER));
  t.strictSame(reports, [
    'the node is not registered',
    'the last heartbeat of node n1 is from before this boot',
    'node n1 is not Ready: no network',
  ]);
  t.match(api.requests[0]?.query, { fieldSelector: 'metadata.name=n1' });
});

t.test('at the deadline the wait fails and says what the node lacks', async (t) => {
  const clock = stopClock(t);
  const { client } = await startFakeApi(t);
  const failure = nodeReady(client, 'n1', {
    signal: new AbortController().signal,
    deadlineMs: 90_000,
    bootTime,
    report: () => clock.pass(90_000),
  });
  t.match(await thrownBy(failure), {
    kind: 'deadline',
    message: /waited 90s for node n1 to be Ready/,
    details: { found: 'the node is not registered' },
  });
});
