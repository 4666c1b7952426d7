import t from 'tap';
import { finish } from '../../../../agents/bootkube/handover/finish.ts';
import { restart } from '../../../../agents/install-to-disk/restart.ts';
import {
  throwIfFailed,
  waitForBootkube,
} from '../../../../agents/install-to-disk/wait-for-bootkube.ts';
import { describeError, Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import type { AgentStatus } from '../../../../lib/engine/steps/status.ts';
import { writeFileAtomic } from '../../../../lib/host/files.ts';
import { cluster } from '../../../unit/agents/host/cluster.ts';
import { testHost } from '../../../unit/agents/host/host.ts';

const DONE = '/opt/openshift/.bootkube.done';
const IGNITION = '/opt/openshift/master.ign';
const INSTALLED = '/opt/openshift/.install-to-disk.done';
const STATUS = '/run/sno-agents/bootkube/status.json';

const status = (more: Partial<AgentStatus>): AgentStatus => ({
  schemaVersion: 1,
  version: '1.2.3',
  agent: 'bootkube',
  unit: 'bootkube',
  state: 'running',
  updated: '2030-01-01T00:00:00Z',
  ...more,
});

t.test('finish and restart create the markers that other installers wait for', async (t) => {
  const it = testHost(t);
  t.equal(await it.holds(finish), false);
  t.same(await it.run(finish), { kind: 'done' });
  t.equal(it.read(DONE), `${cluster.clusterId}\n`);
  t.equal(await it.holds(finish), true);
  t.equal(await it.holds(restart), false);
  t.match(await it.run(restart), { kind: 'reboot', reason: /\/dev\/vda is complete/ });
  t.equal(it.read(INSTALLED), `${cluster.clusterId}\n`);
  t.equal(await it.holds(restart), true, 'after the restart it is not asked for again');
  for (const path of [DONE, INSTALLED]) t.equal(it.mode(path), 0o644, path);
});

t.test('wait-for-bootkube', async (t) => {
  t.test('holds when the marker and the Ignition exist', async (t) => {
    const it = testHost(t);
    t.equal(await it.holds(waitForBootkube), false);
    it.write(DONE);
    t.equal(await it.holds(waitForBootkube), false, 'the Ignition is missing');
    it.write(IGNITION);
    t.equal(await it.holds(waitForBootkube), true);
    it.remove(DONE);
    t.equal(await it.holds(waitForBootkube), false, 'the mark is missing');
  });

  t.test('ends when the marker is created', async (t) => {
    const it = testHost(t);
    it.write(STATUS, JSON.stringify(status({})));
    it.write('/opt/openshift/openshift/.keep');
    const running = it.run(waitForBootkube);
    it.write(DONE);
    t.same(await running, { kind: 'done' });
  });

  t.test('ends immediately when bootkube has failed permanently', async (t) => {
    const it = testHost(t);
    it.write('/opt/openshift/.keep');
    it.write(STATUS, JSON.stringify(status({ state: 'failed', exitCode: 4, reason: 'disk' })));
    t.match(await it.failureOf(waitForBootkube), {
      kind: 'fatal',
      code: 'bootkube-failed',
      message: /bootkube failed.*found disk.*journalctl -u bootkube/,
    });
    it.write(STATUS, JSON.stringify(status({ state: 'failed', exitCode: 3 })));
    t.match(await it.failureOf(waitForBootkube), { kind: 'fatal', message: /no reason given/ });
    const cause = new Failure('fatal', 'no disk', { code: 'disk-not-found', fix: 'Plug it in.' });
    const reason = describeError(cause);
    const failure = failureData(cause);
    it.write(STATUS, JSON.stringify(status({ state: 'failed', exitCode: 4, reason, failure })));
    const failed = await it.run(waitForBootkube).catch((error: unknown) => error);
    t.match(failed, { cause: { kind: 'fatal', code: 'disk-not-found', what: 'no disk' } });
    t.equal(describeError(failed).match(/no disk/g)?.length, 1, 'said once');
  });

  t.test('ends when bootkube fails meanwhile', async (t) => {
    const it = testHost(t);
    it.write('/opt/openshift/.keep');
    it.write(STATUS, JSON.stringify(status({})));
    const failing = it.failureOf(waitForBootkube);
    await it.said(/Waiting for bootkube to finish/);
    // As the agent writes it: to a temporary file, then renamed.
    await writeFileAtomic(
      it.at(STATUS),
      JSON.stringify(status({ state: 'failed', exitCode: 4 })),
      0o644,
    );
    t.match(await failing, { code: 'bootkube-failed' });
  });

  t.test('reports at its deadline what it waited for', async (t) => {
    const it = testHost(t);
    it.write('/opt/openshift/.keep');
    const running = waitForBootkube.run(it.context, it.progress(undefined, 0));
    await t.rejects(running, { kind: 'deadline', message: /bootkube to finish/ });
  });

  t.test('bootkube may still succeed unless it has failed permanently', async (t) => {
    const it = testHost(t);
    const path = it.at(STATUS);
    await t.resolves(throwIfFailed(path), 'not started yet');
    for (const more of [{}, { state: 'stopped' }, { state: 'failed', exitCode: 1 }] as const) {
      it.write(STATUS, JSON.stringify(status(more)));
      await t.resolves(throwIfFailed(path), JSON.stringify(more));
    }
    it.write(STATUS, JSON.stringify(status({ state: 'failed', exitCode: 2 })));
    await t.rejects(throwIfFailed(path), { kind: 'fatal', code: 'bootkube-failed' });
  });
});
