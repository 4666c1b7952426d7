import { setTimeout as sleep } from 'node:timers/promises';
import { KUBERNETES_VERSION } from '../../lab/components/versions.ts';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import type { Benchmark, Row } from '../benchmark.ts';
import { expectGo } from '../go.ts';
import { compare, interleaved, percentile } from '../statistics.ts';
import { Trial } from './trial.ts';

const REPETITIONS = 60;
const WARM_UPS = 10;
const STRANGERS = 10_000;
/** So that a repetition does not wait for what the one before has caused. */
const PAUSE_MS = 50;
const LIFETIME_MS = 15 * 60_000;

const note =
  'Ours: from the moment at which the request is visible until the API server has accepted the approval. Theirs: a GET of the same kind of request and the PUT of its approval, without which nothing can decide.';

export const csr: Benchmark = {
  name: 'csr',
  compares: 'deciding a certificate request: the approver compared with a GET and a PUT',
  deadlineMs: 20 * 60_000,
  async run(signal, { folder, report }) {
    await expectGo();
    const controlPlane = await startControlPlane(folder, signal, { lifetimeMs: LIFETIME_MS });
    try {
      await using trial = await Trial.start(controlPlane, folder, signal);
      const rows = await measure(trial, 'alone', signal);
      const began = performance.now();
      await trial.sendStrangers(STRANGERS);
      report(`${STRANGERS} strangers in ${((performance.now() - began) / 1000).toFixed(0)} s`);
      rows.push(...(await measure(trial, `beside ${STRANGERS} of strangers`, signal)));
      const costly = () => trial.sendCostly();
      rows.push(...(await measure(trial, 'after the costliest one of its node', signal, costly)));
      report(`refused by the API server: ${[...trial.refused].join(', ') || 'no costly request'}`);
      return { rows, versions: { kubernetes: KUBERNETES_VERSION } };
    } finally {
      await controlPlane.stop();
    }
  },
};

/** `before` is done before each measurement of either side. */
async function measure(
  trial: Trial,
  when: string,
  signal: AbortSignal,
  before: () => Promise<void> = async () => {},
): Promise<Row[]> {
  const pause = () => sleep(PAUSE_MS, undefined, { signal });
  const once = (side: () => Promise<number>) => async () => {
    await pause();
    await before();
    return side();
  };
  const [ours, theirs] = [once(() => trial.approval()), once(() => trial.getAndPut())];
  await interleaved(WARM_UPS, ours, theirs);
  const pairs = await interleaved(REPETITIONS, ours, theirs);
  const row = (share: number, name: string): Row => ({
    ...compare(
      { what: `request seen to decided, ${when}, ${name}`, unit: 'ms', note },
      [
        percentile(
          pairs.map(({ ours }) => ours),
          share,
        ),
      ],
      [
        percentile(
          pairs.map(({ theirs }) => theirs),
          share,
        ),
      ],
    ),
    repetitions: REPETITIONS,
  });
  return [row(0.5, 'p50'), row(0.95, 'p95')];
}
