import t from 'tap';
import { type Exit, RepeatedExits } from '../../../../lib/base/wait/repeated-exits.ts';

const exit = (id: number | string, error = 'unknown flag: --x', status = 1): Exit => ({
  ...{ of: 'kubelet.service', id: `${id}`, status, error },
  see: 'journalctl -u kubelet.service',
});

/** The exits that are seen at these seconds, and what was concluded from each. */
const seen = (...exits: (readonly [seconds: number, exit: Exit])[]) => {
  const counts = new RepeatedExits();
  return exits.map(([seconds, each]) => counts.isPermanent(each, seconds * 1000));
};

t.test('four equal exits within half a minute or more are for ever', async (t) => {
  t.same(seen([0, exit(1)], [10, exit(2)], [20, exit(3)], [30, exit(4)]), [
    false,
    false,
    false,
    true,
  ]);
  t.same(
    seen([0, exit(1)], [2, exit(2)], [4, exit(3)], [6, exit(4)], [8, exit(5)], [30, exit(6)]),
    [false, false, false, false, false, true],
    'a quick one is given half a minute',
  );
  t.same(seen([0, exit(1)], [40, exit(1)], [80, exit(1)], [120, exit(1)]).at(-1), false, 'one');
});

t.test('numbers are of a process, and do not tell errors apart', async (t) => {
  const error = (n: number) => `cannot open port 1025${n} of 0x${n}f at ${n}`;
  t.same(seen(...[0, 10, 20, 30].map((at) => [at, exit(at, error(at))] as const)).at(-1), true);
});

t.test('another error or status begins anew', async (t) => {
  const others = [exit(3, 'no such file'), exit(3, undefined, 2)];
  for (const other of others) {
    const all = seen([0, exit(1)], [20, exit(2)], [40, other], [60, exit(4)], [80, exit(5)]);
    t.same(all, [false, false, false, false, false]);
  }
});

t.test('what may pass is waited for', async (t) => {
  const errors = [
    '',
    'validate CRI v1 runtime API for endpoint "unix:///run/containerd/containerd.sock": connect: no such file or directory',
    'dial tcp 127.0.0.1:2379: connect: connection refused',
    'context deadline exceeded',
    'listen tcp 192.0.2.10:2380: bind: cannot assign requested address',
    'listen tcp 127.0.0.1:10250: bind: address already in use',
    'x509: certificate has expired or is not yet valid',
    'write /var/lib/etcd/member/wal/0.tmp: no space left on device',
  ];
  for (const error of errors) {
    const all = seen(...[0, 20, 40, 60, 80, 100].map((at) => [at, exit(at, error)] as const));
    t.notOk(all.includes(true), error);
  }
  for (const error of ['invalid runtimeRequestTimeout', 'yaml: unexpected EOF']) {
    t.ok(seen(...[0, 20, 40, 60].map((at) => [at, exit(at, error)] as const)).at(-1), error);
  }
});
