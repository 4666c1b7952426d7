/** Real programs that cannot run: what is said of them, and whether they are given up. systemd is a stand-in, which starts the kubelet. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { standaloneKubelet } from '../../../agents/steps/kubelet.ts';
import { etcdBinaries, kubernetesBinary } from '../../../lab/servers/binaries.ts';
import { lastError } from '../../../lib/base/log/last-error.ts';
import { isPassing } from '../../../lib/base/wait/repeated-exits.ts';
import { cgroupVersion } from '../../../lib/host/cgroup.ts';
import { type TestHost, testHost } from '../../unit/agents/host/host.ts';
import { endPauses, hurry } from '../../unit/agents/host/timers.ts';

const building = AbortSignal.timeout(3_000_000);
const kubelet = await kubernetesBinary('kubelet', building);

const STANDALONE = {
  ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  failSwapOn: false,
  failCgroupV1: false,
};

/** Each look at the unit starts the real kubelet with this configuration, and finds that it has ended. */
function systemdWith(host: TestHost, configuration: object): void {
  const path = '/etc/kubernetes/kubelet-live.yaml';
  host.write(path, JSON.stringify({ ...STANDALONE, ...configuration }));
  host.write('/run/starts', '0');
  host.programs.give(
    'systemctl',
    `[ "$1 $2" = "show kubelet.service" ] || { echo ActiveState=inactive; exit; }
    n=$(($(cat "$ROOT/run/starts") + 1)); echo $n > "$ROOT/run/starts"
    ${kubelet} --config="$ROOT${path}" --root-dir="$ROOT/var/lib/kubelet" > "$ROOT/run/printed-$n" 2>&1
    printf '%s\\n' ActiveState=activating SubState=auto-restart Result=exit-code ExecMainStatus=$? NRestarts=$n InvocationID=$n`,
  );
  host.programs.give('journalctl', 'cat "$ROOT/run/printed-$(echo "$1" | sed "s/.*=//")"');
}

t.test('a kubelet whose configuration it refuses is given up in its own words', async (t) => {
  // On cgroup v1, the real case: since 1.35 without this field.
  const [configuration, words] =
    (await cgroupVersion()) === 1
      ? [{ failCgroupV1: true }, /configured to not run on a host using cgroup v1/]
      : [
          { podPidsLimit: -7, evictionHard: { 'memory.available': 'nonsense' } },
          /nonsense|podPidsLimit/,
        ];
  const host = testHost(t);
  systemdWith(host, configuration);
  t.capture(globalThis, 'fetch', async () => {
    throw new TypeError('fetch failed');
  });
  endPauses(t, 5000);
  hurry(t, 4000);
  const failure = await host.failureOf(standaloneKubelet);
  t.match(failure, { kind: 'fatal', code: 'keeps-ending', message: words });
  t.match(host.lines.join(''), words);
});

t.test('one that has no runtime yet is waited for', async (t) => {
  const host = testHost(t);
  systemdWith(host, { containerRuntimeEndpoint: `unix://${host.at('/run/none.sock')}` });
  let asked = 0;
  t.capture(globalThis, 'fetch', async () => {
    asked += 1;
    if (asked < 6) throw new TypeError('fetch failed');
    return new Response('ok');
  });
  endPauses(t, 5000);
  hurry(t, 3000);
  t.same(await host.run(standaloneKubelet), { kind: 'done' });
  t.match(
    host.lines.join(''),
    /has ended with exit status 1: .*none\.sock.*no such file or directory/,
  );
});

t.test('what programs of the control plane say last is their error', async (t) => {
  const { etcd } = await etcdBinaries(building);
  const apiServer = await kubernetesBinary('kube-apiserver', building);
  const folder = t.testdir();
  const rows: [program: string, args: string[], words: RegExp][] = [
    [etcd, ['--nonsense'], /^flag provided but not defined: -nonsense$/],
    [
      etcd,
      [`--data-dir=/proc/none`],
      /^discovery failed: cannot access data directory: .*\/proc\/none/,
    ],
    [apiServer, ['--nonsense'], /^Error: unknown flag: --nonsense$/],
    [
      apiServer,
      [`--tls-cert-file=${join(folder, 'none.crt')}`, '--etcd-servers=http://127.0.0.1:9'],
      /none\.crt|service-account/,
    ],
    [kubelet, ['--nonsense'], /unknown flag: --nonsense/],
  ];
  for (const [program, args, words] of rows) {
    const { stdout, stderr, status } = spawnSync(program, args, {
      encoding: 'utf8',
      timeout: 60_000,
    });
    const found = lastError(`${stdout}${stderr}`);
    t.not(status, 0);
    t.match(found, words, `${program} ${args}`);
    t.notOk(isPassing({ error: found }), found);
  }
});
