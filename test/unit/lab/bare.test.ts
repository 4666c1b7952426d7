import t from 'tap';
import { unreadyMs } from '../../../lab/bare/outage.ts';
import { unitOfKubelet, unitOfPod } from '../../../lab/bare/units.ts';

t.test('a bare unit runs the program of a static pod with its flags', async (t) => {
  const manifest = `
spec:
  containers:
    - name: kube-apiserver
      command: [kube-apiserver, --a=1, '--b=50% of $x "y"']
`;
  const { name, text } = unitOfPod(manifest);
  t.equal(name, 'bare-kube-apiserver.service');
  t.match(
    text,
    'ExecStart="/usr/local/bin/kube-apiserver" "--a=1" "--b=50%% of $$x \\"y\\""\nRestart=on-failure\n',
  );
  t.notMatch(text, 'sno-');
});

t.test('the bare kubelet is started as the installed one, without our units', async (t) => {
  const installed = `[Unit]
Wants=containerd.service
Requires=sno-payload.service
[Service]
Type=notify
EnvironmentFile=/etc/sno-agents/kubelet.env
ExecStart=/bin/kubelet --node-ip=$IPS
Restart=always
KillMode=process
`;
  const { text } = unitOfKubelet(installed);
  t.match(
    text,
    'EnvironmentFile=/etc/sno-agents/kubelet.env\nExecStart=/bin/kubelet --node-ip=$IPS\n',
  );
  t.match(text, 'KillMode=process\nRestart=on-failure\n');
  t.notMatch(text, /sno-payload|Restart=always/);
});

t.test('an outage lasts from each first failure to the next success', async (t) => {
  const answers = (text: string) =>
    Array.from(text, (each, at) => ({ askedMs: at * 50, isReady: each === '+' }));
  const cases: readonly [string, number][] = [
    ['+++', 0],
    ['+-+', 50],
    ['+---+', 150],
    ['+-+--++', 150],
  ];
  for (const [text, expected] of cases) {
    t.equal(unreadyMs(answers(text)), expected, text);
    t.equal(unreadyMs(answers(text).toReversed()), expected, `${text}, as answered later`);
  }
});
