import t from 'tap';
import type { ExecResult } from '../../../lab/host/exec.ts';
import { onHost } from '../../../lab/host/on-host.ts';

const { signal } = new AbortController();
const hostThat = (ends: ExecResult) => ({
  exec: async () => ends,
});

t.test('the output is without whitespace around it', async (t) => {
  const host = hostThat({ stdout: ' edge-7\n', stderr: 'a warning', exitCode: 0 });
  t.equal(await onHost(host, ['hostname'], signal), 'edge-7');
});

t.test('a program that fails is named, with its exit code and all that it wrote', async (t) => {
  const host = hostThat({ stdout: 'looked at 3\n', stderr: 'no such file\n', exitCode: 4 });
  await t.rejects(onHost(host, ['cat', '/etc/none'], signal), {
    kind: 'fatal',
    message:
      /^cat \/etc\/none failed on the host; .* found exit code 4 \| no such file \| looked at 3$/,
  });
});

t.test('one that writes nothing is not taken for one that has nothing to say', async (t) => {
  const silent = hostThat({ stdout: '', stderr: '', exitCode: 1 });
  await t.rejects(onHost(silent, ['systemctl'], signal), { message: /found exit code 1$/ });
});
