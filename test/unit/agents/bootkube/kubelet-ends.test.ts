/** A kubelet, a runtime and static pods that end again and again: what is said meanwhile, and when the wait is given up. */
import { hostname } from 'node:os';
import t, { type Test } from 'tap';
import { controlPlane } from '../../../../agents/steps/control-plane.ts';
import { etcdServes } from '../../../../agents/steps/etcd.ts';
import { restartKubeletUnit, standaloneKubelet } from '../../../../agents/steps/kubelet.ts';
import { troubleIn } from '../../../../agents/steps/pod-sandboxes.ts';
import { podReady } from '../../../../agents/upkeep/rotate/pod-ready.ts';
import { settleUpdate } from '../../../../agents/upkeep/update/settle.ts';
import { fakeApi, refuse } from '../host/api.ts';
import { fakeEtcd } from '../host/etcd.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { giveRendered } from '../host/rendered.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { endPauses, hurry, shortenIntervals } from '../host/timers.ts';
import { PREPARED, STATE, updating } from '../upkeep/updating-host.ts';

const WRONG = 'kubelet is configured to not run on a host using cgroup v1';
const NO_RUNTIME = 'dial unix /run/containerd/containerd.sock: connect: no such file or directory';

/** Each look at a unit of these finds that it has ended once more; the others run. */
function ending(host: TestHost, errors: Readonly<Record<string, string>>): void {
  const cases = Object.keys(errors).map(
    (unit) => `"show ${unit}")
      n=$(cat "$ROOT/run/starts" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > "$ROOT/run/starts"
      echo ActiveState=activating; echo SubState=auto-restart; echo Result=exit-code
      echo ExecMainStatus=1; echo NRestarts=$n; echo InvocationID=${unit}-$n ;;`,
  );
  host.write('/run/.keep');
  host.programs.give(
    'systemctl',
    `case "$1 $2" in ${cases.join('\n')}
      "show "*) echo ActiveState=inactive; echo SubState=dead; echo Result=success ;;
    esac`,
  );
  const lines = Object.entries(errors).map(
    ([unit, error]) =>
      `_SYSTEMD_INVOCATION_ID=${unit}-*) echo 'I1128 04:14:26.1 7 a.go:1] begins'; echo 'E1128 04:14:26.1 7 run.go:72] "command failed" err="${error}"' ;;`,
  );
  host.programs.give('journalctl', `case "$1" in ${lines.join('\n')} esac`);
}

const unhealthy = async () => {
  throw new TypeError('fetch failed');
};

t.test('a kubelet that cannot run here is given up, with its own words', async (t) => {
  const host = testHost(t);
  ending(host, { 'kubelet.service': WRONG });
  t.capture(globalThis, 'fetch', unhealthy);
  endPauses(t, 5000);
  hurry(t, 3000);
  t.match(await host.failureOf(standaloneKubelet), {
    kind: 'fatal',
    code: 'keeps-ending',
    message: new RegExp(
      `kubelet\\.service ends again and again; .*exits in a row with exit status 1: .*${WRONG}.*journalctl -u kubelet\\.service`,
    ),
  });
  const told = host.lines.filter((line) => line.includes('has ended with exit status 1'));
  t.equal(told.length, 1, host.lines.join(''));
});

t.test('one that waits for the runtime is not, and the cause is said', async (t) => {
  for (const errors of [
    { 'kubelet.service': NO_RUNTIME },
    // The kubelet's own error could stay; the first of both is what counts.
    { 'containerd.service': NO_RUNTIME, 'kubelet.service': WRONG },
  ]) {
    const host = testHost(t);
    ending(host, errors);
    let asked = 0;
    const fetched = t.capture(globalThis, 'fetch', async () => {
      asked += 1;
      return asked < 6 ? unhealthy() : new Response('ok');
    });
    endPauses(t, 5000);
    hurry(t, 3000);
    t.same(await host.run(standaloneKubelet), { kind: 'done' });
    t.ok(fetched().length >= 6);
    t.match(host.lines.join(''), /has ended with exit status 1: .*containerd\.sock/);
  }
});

t.test('a restart whose kubelet ends at once leaves it to the wait that follows', async (t) => {
  const host = testHost(t);
  ending(host, { 'kubelet.service': WRONG });
  await restartKubeletUnit(AbortSignal.timeout(60_000));
  host.programs.give('systemctl', '[ "$1" = show ] && echo ActiveState=inactive || exit 1');
  await t.rejects(restartKubeletUnit(AbortSignal.timeout(60_000)), {
    kind: 'retry',
    message: /restart kubelet/,
  });
});

/** A container that has ended more often with each look. */
async function endingContainer(t: Test, host: TestHost, name: string, log: string) {
  let count = 0;
  host.write(`/var/log/pods/${name}.log`, log);
  await fakeRuntime(t, host, () => [], {
    ListContainers: () => {
      count += 1;
      return {
        containers: [
          {
            ...{ id: `${name}-${count}`, metadata: { name, attempt: count } },
            ...{ state: 'CONTAINER_EXITED', createdAt: `${count}000000000` },
          },
        ],
      };
    },
    ContainerStatus: () => ({
      status: {
        ...{ id: `${name}-${count}`, metadata: { name, attempt: count } },
        ...{ state: 'CONTAINER_EXITED', exitCode: 1, reason: 'Error' },
        logPath: `/var/log/pods/${name}.log`,
      },
      info: {},
    }),
  });
  host.programs.give('systemctl', 'echo ActiveState=active; echo SubState=running');
}

t.test('a static pod whose container ends is given up, with the end of its log', async (t) => {
  const line = (text: string) => `2026-11-28T04:14:29.783854Z stderr F ${text}\n`;
  t.test('the API server', async (t) => {
    const host = testHost(t);
    await giveRendered(host);
    await fakeApi(t, host, { 'GET /readyz': () => refuse(500) });
    const log = line('I1128 begins') + line('Error: unknown flag: --nonsense');
    await endingContainer(t, host, 'kube-apiserver', log);
    endPauses(t, 5000);
    shortenIntervals(t);
    hurry(t, 700);
    t.match(await host.failureOf(controlPlane), {
      kind: 'fatal',
      code: 'keeps-ending',
      message:
        /the container kube-apiserver ends again.*exit status 1: Error: unknown flag: --nonsense.*tail \/var\/log\/pods/,
    });
  });
  t.test('that of a rotation', async (t) => {
    const host = testHost(t);
    await endingContainer(t, host, 'kube-scheduler', line('Error: unknown flag: --nonsense'));
    endPauses(t, 5000);
    shortenIntervals(t);
    hurry(t, 700);
    const pod = { component: 'kube-scheduler', manifest: 'kind: Pod\n' };
    await t.rejects(podReady(host.context, pod, host.progress()), {
      kind: 'fatal',
      code: 'keeps-ending',
      message: /the container kube-scheduler ends again.*--nonsense/,
    });
  });
  t.test('that of an update', async (t) => {
    const { host, run } = await updating(t);
    host.write(`${STATE}/prepared.json`, JSON.stringify(PREPARED));
    await endingContainer(t, host, 'kube-scheduler', line('Error: unknown flag: --nonsense'));
    endPauses(t, 5000);
    shortenIntervals(t);
    hurry(t, 700);
    await t.rejects(run(settleUpdate), {
      kind: 'fatal',
      code: 'keeps-ending',
      message: /the container kube-scheduler ends again.*--nonsense/,
    });
  });
  t.test('etcd', async (t) => {
    const host = testHost(t, { endpoints: { etcd: 'https://127.0.0.1:9' } });
    await giveRendered(host);
    (await fakeEtcd(t)).giveAccess(host);
    const log = line(
      '{"level":"fatal","msg":"discovery failed","error":"cannot access data directory"}',
    );
    await endingContainer(t, host, 'etcd', log);
    endPauses(t, 5000);
    shortenIntervals(t);
    hurry(t, 700);
    t.match(await host.failureOf(etcdServes), {
      code: 'keeps-ending',
      message: /the container etcd ends.*discovery failed: cannot access data directory/,
    });
  });
});

/** As a kubelet of 1.37 wrote it where the runtime's own image was not there. */
const NO_SANDBOX =
  'E1129 02:15:46.729463     489 kuberuntime_sandbox.go:74] "Failed to create sandbox for pod" err="rpc error: code = Unknown desc = failed to pull image \\"registry.k8s.io/pause:3.10\\": dial tcp: lookup registry.k8s.io on 192.168.126.1:53: server misbehaving" pod="kube-system/etcd-sno.lab.example.test"';

t.test('a static pod that gets no sandbox is waited for, and the cause is said', async (t) => {
  const host = testHost(t, { endpoints: { etcd: 'https://127.0.0.1:9' } });
  await giveRendered(host);
  (await fakeEtcd(t)).giveAccess(host);
  await fakeRuntime(t, host, () => [], { ListContainers: () => ({ containers: [] }) });
  host.programs.give('systemctl', 'echo ActiveState=active; echo SubState=running');
  host.programs.give('journalctl', `cat <<'E'\n${NO_SANDBOX}\nE`);
  endPauses(t, 5000);
  shortenIntervals(t);
  hurry(t, 700);
  const says =
    /the pod kube-system\/etcd-sno\S* gets no sandbox: failed to pull image "registry\.k8s\.io\/pause:3\.10": dial tcp/;
  t.ok(await host.waitsFor(etcdServes, says), host.lines.join(''));
  const [asked = ''] = host.programs.calls('journalctl');
  const node = hostname().replaceAll('.', '\\.');
  t.ok(asked.includes(`--grep="Failed to create sandbox for pod" .*/(etcd)-${node}"$`), asked);
});

t.test('what the kubelet says of sandboxes, in the words of the runtime', async (t) => {
  t.equal(troubleIn('I1129 other'), undefined);
  t.equal(troubleIn(''), undefined);
  t.match(
    troubleIn(NO_SANDBOX),
    /^the pod kube-system\/etcd-sno\S+ gets no sandbox: failed to pull/,
  );
  const long = NO_SANDBOX.replace('dial tcp', 'x'.repeat(9000));
  t.ok((troubleIn(long) ?? '').length < 500);
});
