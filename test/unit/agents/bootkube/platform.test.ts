import t from 'tap';
import {
  type HostPlatform,
  judgePlatform,
  platformCheck,
  platformOf,
  requirePlatform,
} from '../../../../agents/steps/preflight/platform.ts';
import { cgroupVersion } from '../../../../lib/host/cgroup.ts';
import { testHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { inputFor, NETWORKS } from './check-input.ts';

const OLD = { name: 'containerd 1.6.20', hasConfig: false };
const NEW = { name: 'containerd 2.4.2', hasConfig: true };

t.test('what a version of Kubernetes demands of a host', async (t) => {
  const rows: [version: string, platform: HostPlatform, runs: boolean, notices: RegExp[]][] = [
    ['v1.34.4', { cgroup: 2, runtime: NEW }, true, []],
    ['v1.37.2', { cgroup: 2, runtime: NEW }, true, []],
    ['v1.38.0', { cgroup: 2, runtime: NEW }, true, []],
    ['v1.37.2', { cgroup: 2 }, true, []],
    ['v1.37.2', { cgroup: 1, runtime: NEW }, true, [/cgroup v1.*1\.35.*later version/]],
    ['v1.37.2', { cgroup: 2, runtime: OLD }, true, [/containerd 1\.6\.20.*from 1\.38 on/]],
    ['v1.37.2', { cgroup: 1, runtime: OLD }, true, [/cgroup v1/, /containerd 1\.6\.20/]],
    ['v1.38.0', { cgroup: 2, runtime: OLD }, false, []],
    ['v1.40.1', { cgroup: 1, runtime: OLD }, false, [/cgroup v1/]],
  ];
  for (const [version, platform, runs, notices] of rows) {
    const found = judgePlatform(version, platform);
    t.equal(found.problem === undefined, runs, `${version} ${JSON.stringify(platform)}`);
    t.match(found.notices, notices);
    t.equal(found.notices.length, notices.length);
  }
  t.match(judgePlatform('v1.38.0', { cgroup: 2, runtime: OLD }).problem, {
    what: /containerd 1\.6\.20 .*RuntimeConfig.*from 1\.38 on: the kubelet of v1\.38\.0 would end/,
    fix: /containerd 2\.0 or newer, or CRI-O 1\.28 or newer, or a payload of a Kubernetes before 1\.38/,
  });
});

t.test('the runtime of the host is asked', async (t) => {
  const { signal } = new AbortController();
  const cgroup = await cgroupVersion();
  const none = testHost(t);
  t.same(await platformOf(none.paths, signal), { cgroup });
  const Version = () => ({ runtimeName: 'containerd', runtimeVersion: '1.6.20' });
  const old = testHost(t);
  await fakeRuntime(t, old, () => [], { Version });
  t.same(await platformOf(old.paths, signal), { cgroup, runtime: OLD });
  const config = () => ({ linux: { cgroupDriver: 'SYSTEMD' } });
  const present = testHost(t);
  await fakeRuntime(t, present, () => [], { Version, RuntimeConfig: config });
  t.match(await platformOf(present.paths, signal), { runtime: { hasConfig: true } });

  const { context } = old;
  await t.rejects(requirePlatform(context, 'v1.38.0', signal), {
    ...{ kind: 'fatal', code: 'preflight-platform' },
    message: /would end at its start\. Use an operating system with containerd 2\.0/,
  });
  t.match((await requirePlatform(context, 'v1.37.2', signal)).at(-1), /from 1\.38 on/);
  t.match(
    (
      await requirePlatform(
        { ...context, cluster: { ...context.cluster, preflightWarnings: ['platform'] } },
        'v1.38.0',
        signal,
      )
    ).at(-1),
    /would end/,
  );
});

t.test('in the preflight, for the payload that is there', async (t) => {
  const host = testHost(t);
  const input = { ...inputFor(t, [], NETWORKS), ...host.context, hostname: 'sno' };
  t.match(await platformCheck.run(input), { ok: true, fact: /not on this host yet/ });
  const openshift = { ...input, cluster: { ...input.cluster, controlPlane: 'openshift' as const } };
  t.match(await platformCheck.run(openshift), { ok: true, fact: /release/ });
  writePayload(host, '/run/media/iso/sno-agents/payload');
  const Version = () => ({ runtimeName: 'containerd', runtimeVersion: '1.6.20' });
  await fakeRuntime(t, host, () => [], { Version });
  const found = await platformCheck.run(input);
  t.match(found, { ok: true, fact: /can run Kubernetes v1\.34\.4/ });
  t.match(found.ok ? found.notices?.at(-1) : '', /containerd 1\.6\.20.*from 1\.38 on/);
  const path = '/run/media/iso/sno-agents/payload/payload.yaml';
  host.write(path, host.read(path).replace('v1.34.4', 'v1.38.0'));
  t.match(await platformCheck.run(input), { ok: false, fix: /containerd 2\.0 or newer/ });
});
