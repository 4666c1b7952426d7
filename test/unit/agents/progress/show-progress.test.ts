import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { execa } from 'execa';
import t from 'tap';
import { showProgress } from '../../../../agents/progress/show-progress.ts';
import { statusPath } from '../../../../lib/engine/steps/reporter.ts';
import { writeFileAtomic } from '../../../../lib/host/files.ts';
import { type TestHost, testHost } from '../host/host.ts';

/** Starts showing progress, and resolves when a line was shown. */
function following(host: TestHost) {
  const lines: string[] = [];
  const waiting = new Map<string, () => void>();
  const step = showProgress((line) => {
    lines.push(line);
    waiting.get(line)?.();
  });
  return {
    lines,
    step,
    ended: step.run(host.context, host.progress()),
    shown: (line: string) =>
      lines.includes(line)
        ? Promise.resolve()
        : new Promise<void>((resolve) => waiting.set(line, resolve)),
  };
}

async function publish({ paths }: TestHost, agent: string, more: object): Promise<void> {
  const status = {
    ...{ schemaVersion: 1, version: '1', agent, unit: agent, state: 'running', updated: '' },
    ...more,
  };
  await writeFileAtomic(statusPath(paths, agent), JSON.stringify(status), 0o644);
}

const at = (name: string, number: number, of: number) => ({
  step: { name, number, of, attempt: 1, since: '', until: '' },
});

t.test('the live host, until the disk is written', async (t) => {
  const host = testHost(t);
  // Created by Ignition.
  host.write('/opt/openshift/.keep');
  const { lines, step, ended, shown } = following(host);
  await publish(host, 'bootkube', at('etcd', 6, 17));
  await shown('Preparing the cluster: step 6 of 17 (etcd)\n');
  await publish(host, 'bootkube', { ...at('etcd', 6, 17), updated: 'later' });
  await publish(host, 'install-to-disk', { state: 'failed', reason: 'no disk' });
  await shown('Writing the disk: FAILED: no disk\n');
  await publish(host, 'install-to-disk', { state: 'reboot' });
  t.equal(await step.holds(host.context, host.progress()), false);
  host.write(host.paths.installDone);
  t.strictSame(await ended, { kind: 'done' });
  t.strictSame(lines.slice(0, 2), [
    'Preparing the cluster: step 6 of 17 (etcd)\n',
    'Writing the disk: FAILED: no disk\n',
  ]);
  t.equal(new Set(lines).size, lines.length, 'each change once');
  t.equal(await step.holds(host.context, host.progress()), true);
});

t.test('every console shows it, the stopped one what it has room for', async (t) => {
  const host = testHost(t);
  host.write('/opt/openshift/.keep');
  host.write('/sys/class/tty/console/active', 'ttyS1 hvc0 ttyS0\n');
  for (const name of ['tty1', 'hvc0', 'ttyS0']) host.write(`/dev/${name}`, '');
  // Open, and with nobody who takes anything out.
  await execa('mkfifo', [host.at('/dev/ttyS1')]);
  const stopped = openSync(host.at('/dev/ttyS1'), constants.O_RDWR | constants.O_NONBLOCK);
  t.teardown(() => closeSync(stopped));
  t.throws(
    () => {
      for (;;) writeSync(stopped, 'x'.repeat(4096));
    },
    { code: 'EAGAIN' },
  );
  const { ended, shown } = following(host);
  await publish(host, 'bootkube', at('etcd', 6, 17));
  await shown('Preparing the cluster: step 6 of 17 (etcd)\n');
  await publish(host, 'install-to-disk', { state: 'reboot' });
  host.write(host.paths.installDone);
  await ended;
  for (const name of ['tty1', 'hvc0']) {
    t.match(host.read(`/dev/${name}`), /^Preparing the cluster: step 6 of 17 \(etcd\)\n/, name);
  }
  t.equal(host.read('/dev/ttyS0'), '', 'it is /dev/console');
});

t.test('the installed host, until post-reboot is done', async (t) => {
  const host = testHost(t);
  const { lines, step, ended, shown } = following(host);
  await publish(host, 'sno-payload', at('install-payload', 2, 2));
  await shown('Checking the software: step 2 of 2 (install-payload)\n');
  await publish(host, 'post-reboot', at('retire', 9, 9));
  await shown('Starting the cluster: step 9 of 9 (retire)\n');
  t.equal(await step.holds(host.context, host.progress()), false);
  await publish(host, 'post-reboot', { state: 'done' });
  t.strictSame(await ended, { kind: 'done' });
  t.equal(lines.at(-1), 'PASS: the host is installed. Nothing is left to do.\n');
  t.equal(await step.holds(host.context, host.progress()), true);
});

t.test('an all-in-one host, until aiokube is done', async (t) => {
  const host = testHost(t);
  const { lines, step, ended, shown } = following(host);
  await publish(host, 'aiokube', at('etcd', 8, 22));
  await shown('Setting up the cluster: step 8 of 22 (etcd)\n');
  await publish(host, 'aiokube', { state: 'done' });
  t.strictSame(await ended, { kind: 'done' });
  t.equal(lines.at(-1), 'PASS: the host is installed. Nothing is left to do.\n');
  t.equal(await step.holds(host.context, host.progress()), true);
});

t.test('its end is not recorded: post-reboot has deleted its journal by then', async (t) => {
  t.equal(showProgress().removesState, true);
});
