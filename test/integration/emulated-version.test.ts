/** The real components take the flag by which they behave as an earlier minor version, as it is rendered. */
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { kubernetesBinary } from '../../lab/servers/binaries.ts';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { servedMinor, serverVersion } from '../../lib/clients/kube/server-version.ts';
import { emulation } from '../../lib/render/kubernetes/emulation.ts';
import { flags } from '../../lib/render/kubernetes/static-pod.ts';
import { input } from '../unit/render/rendered-host.ts';

const { signal } = new AbortController();
const limits = { signal, deadlineMs: 10_000 };
const rendered = (emulates: string) =>
  flags(emulation({ ...input, host: { ...input.host, emulates } }));

t.test('kube-apiserver serves the earlier minor version', async (t) => {
  const folder = join(t.testdir(), 'control-plane');
  const { stdout } = await execa(await kubernetesBinary('kube-apiserver', signal), ['--version']);
  const before = Number(/v1\.(\d+)/.exec(stdout)?.[1]) - 1;
  const server = await startControlPlane(folder, signal, { args: rendered(`1.${before}`) });
  t.teardown(() => server.stop());
  using client = await server.client();
  const version = await serverVersion(client, limits);
  t.match(version, { minor: `${before + 1}`, emulationMinor: `${before}` });
  t.equal(servedMinor(version), `1.${before}`, 'no kubelet may be newer meanwhile');
});

for (const component of ['kube-controller-manager', 'kube-scheduler'] as const) {
  t.test(`${component} reads it, and refuses a version that it cannot emulate`, async (t) => {
    const program = await kubernetesBinary(component, signal);
    const run = async (emulates: string) => {
      const args = [
        ...rendered(emulates),
        '--kubeconfig=/nonexistent',
        '--authentication-skip-lookup',
      ];
      const { exitCode, stderr } = await execa(program, args, { reject: false, timeout: 60_000 });
      return { exitCode, stderr };
    };
    const { stdout } = await execa(program, ['--version']);
    const before = Number(/v1\.(\d+)/.exec(stdout)?.[1]) - 1;
    const taken = await run(`1.${before}`);
    t.match(taken.stderr, /\/nonexistent/, 'it gets as far as its kubeconfig');
    t.notMatch(taken.stderr, /emulation version/);
    t.match((await run('9.9')).stderr, /emulation version 9\.9/);
  });
}
