import t from 'tap';
import type { Ended, NamedUnit } from '../../../../lib/host/named-unit.ts';
import { hostPodman, runArguments } from '../../../../lib/render/openshift/podman.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 1000 };
const container = {
  name: 'sno-render-x',
  image: 'registry.example/x@sha256:0',
  command: ['render', '--a=b'],
  network: 'host',
  volumes: ['/w:/assets:z'],
} as const;

function podmanThat(ended: Partial<Ended>) {
  const units: NamedUnit[] = [];
  const podman = hostPodman(async (unit) => {
    units.push(unit);
    return { exitCode: 0, how: 'exit code 0', stdout: '', stderr: '', ...ended };
  });
  return { podman, units };
}

t.test('a container is removed at its end, and replaces one of an earlier attempt', async (t) => {
  const args = runArguments(container);
  t.same(args.slice(-3), [container.image, 'render', '--a=b'], 'nothing after the command');
  for (const expected of [
    ...['run', '--rm', '--replace', '--name=sno-render-x', '--network=host', '--pull=never'],
    '--volume=/w:/assets:z',
  ]) {
    t.ok(args.includes(expected), expected);
  }
  t.notMatch(args.join(' '), /--user|--entrypoint|--env/);
  const more = runArguments({
    ...container,
    network: 'none',
    user: '0',
    entrypoint: 'cat',
    environment: { A: 'b' },
  });
  for (const expected of ['--user=0', '--entrypoint=cat', '--env=A=b', '--network=none']) {
    t.ok(more.includes(expected), expected);
  }
});

t.test('each call is a unit of its name, with the pull secret of root', async (t) => {
  const { podman, units } = podmanThat({ stdout: '[{"Digest":"d","Architecture":"amd64"}]' });
  t.equal(await podman.run(container, limits), '[{"Digest":"d","Architecture":"amd64"}]');
  t.same(await podman.inspect('r', 'etcd', limits), {
    digest: 'd',
    repoDigests: [],
    architecture: 'amd64',
  });
  await podman.pull('r', 'etcd', limits);
  const [run, inspect, pull] = units;
  t.match(run, { name: 'sno-render-x', environment: { HOME: '/root' } });
  t.same(run?.argv, ['podman', ...runArguments(container)]);
  const called = { environment: { HOME: '/root' }, ...limits };
  t.same(inspect, {
    name: 'sno-inspect-etcd',
    argv: ['podman', 'image', 'inspect', '--', 'r'],
    ...called,
  });
  t.same(pull, {
    name: 'sno-pull-etcd',
    argv: ['podman', 'pull', '--quiet', '--', 'r'],
    ...called,
  });
});

t.test('a failure names stage, image, arguments, exit code and the last lines', async (t) => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  const { podman } = podmanThat({
    exitCode: 255,
    how: 'exit code 255',
    stderr: `${lines.join('\n')}\npassword=hunter2secret\n`,
  });
  await t.rejects(podman.run(container, limits), {
    kind: 'retry',
    code: 'render-failed',
    message:
      /sno-render-x failed; found exit code 255 \| image registry\.example\/x@sha256:0 \| arguments render --a=b \| line 13 .*line 19/,
  });
  const error = await podman.run(container, limits).catch(String);
  t.notMatch(error, /hunter2secret/);
  t.notMatch(error, /line 12/);
});

t.test('without output on the standard error, the other one is shown', async (t) => {
  const { podman } = podmanThat({ exitCode: 1, how: 'exit code 1', stdout: 'F0101 no gate' });
  await t.rejects(podman.run(container, limits), { message: /exit code 1 .*F0101 no gate/ });
});

t.test('an image that podman does not have, and a podman that does not work', async (t) => {
  const missing = podmanThat({ exitCode: 125, how: 'exit code 125', stderr: 'no such image' });
  t.equal(await missing.podman.inspect('r', 'etcd', limits), undefined);
  await t.rejects(missing.podman.pull('r', 'etcd', limits), {
    kind: 'retry',
    code: 'command-failed',
    message: /podman could not pull r; found exit code 125 \| no such image/,
  });
  const broken = podmanThat({ exitCode: undefined, how: 'ENOENT' });
  await t.rejects(broken.podman.inspect('r', 'etcd', limits), {
    message: /could not inspect the image r; found ENOENT/,
  });
});
