/** The way back after a confirmation: what is kept for it, and every moment at which it may be interrupted. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { confirmTrial } from '../../../../lib/engine/trial/arm.ts';
import { keepTrial, readKept, returnToKept } from '../../../../lib/engine/trial/kept.ts';
import { putBackNetwork, putBackRest } from '../../../../lib/engine/trial/points.ts';
import { readTrial } from '../../../../lib/engine/trial/store.ts';
import type { TestHost } from '../../agents/host/host.ts';
import { killedAtAnyMoment } from '../steps/killed-at-any-moment.ts';
import {
  arm,
  change,
  EXECUTABLE,
  ID,
  KEPT_EXECUTABLE,
  RECORD,
  snapshot,
  unchangedHost,
} from './changed-host.ts';

const signal = new AbortController().signal;
const KEPT = '/var/lib/sno-agents/before';
const reason = failureData(new Failure('usage', 'somebody asked'));

async function onTrial(t: Test): Promise<TestHost> {
  const host = unchangedHost(t);
  await arm(host);
  await change(host);
  return host;
}

async function confirmed(t: Test): Promise<TestHost> {
  const host = await onTrial(t);
  await keepTrial(host.paths, host.at(KEPT), signal);
  await confirmTrial(host.paths, signal);
  return host;
}

/** The files of a folder with their contents. */
const contents = (host: TestHost, folder: string) =>
  readdirSync(host.at(folder), { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => join(host.at(folder), name))
    .map((path) => [
      path.slice(host.root.length),
      path.endsWith('trial.json') || !statSync(path).isFile() ? '' : readFileSync(path, 'utf8'),
    ]);

t.test(
  'interrupted while the points of return are kept: it is repeated, or not kept',
  async (t) => {
    await killedAtAnyMoment(t, {
      prepare: () => onTrial(t),
      run: (host) => keepTrial(host.paths, host.at(KEPT), signal),
      async allowed(host, when) {
        const isKept = (await readKept(host.at(KEPT))) !== undefined;
        const has = (path: string) => host.has(`${KEPT}/${path}`);
        t.ok(
          !isKept || (has('copies/1') && has('payload/payload.yaml')),
          `${when}: kept as a whole`,
        );
      },
      result: async (host) => [await contents(host, KEPT), (await readKept(host.at(KEPT)))?.id],
      least: 5,
    });
  },
);

t.test('interrupted at any moment of the return, the host comes back as a whole', async (t) => {
  const before = snapshot(unchangedHost(t));
  const id = ID.replace('111', '222');
  await killedAtAnyMoment(t, {
    prepare: () => confirmed(t),
    run: (host) => returnToKept(host.paths, host.at(KEPT), { id, reason }, signal),
    again: async (host) => {
      // A command: somebody gives it again, unless it has got as far as the record.
      if (!host.has(RECORD)) await returnToKept(host.paths, host.at(KEPT), { id, reason }, signal);
    },
    async allowed(host, when) {
      const starts = host.programs.calls('systemctl start --no-block sno-trial.service');
      t.ok(starts.length === 0 || host.has(RECORD), `${when}: nothing starts without the record`);
      const isComplete =
        host.has(KEPT_EXECUTABLE) && host.has('/var/lib/sno-agents/sno-trial/payload');
      t.ok(!host.has(RECORD) || isComplete, `${when}: no record without what it names`);
      t.ok((await readKept(host.at(KEPT))) !== undefined, `${when}: what is kept stays`);
    },
    result: async (host) => {
      const trial = await readTrial(host.paths);
      if (trial === undefined) return 'no trial';
      const { points, reverting } = trial;
      const executable = host.read(EXECUTABLE);
      await putBackNetwork(host.paths, points);
      await putBackRest(host.paths, points);
      const after = Object.fromEntries(
        Object.entries(snapshot(host)).filter(([path]) => !/before\/|bin\/sno-agents$/.test(path)),
      );
      t.same(Object.keys(after).length, Object.keys(before).length - 1, 'without the executable');
      return { id: trial.id, reverting, executable, after };
    },
    least: 10,
  });
});
