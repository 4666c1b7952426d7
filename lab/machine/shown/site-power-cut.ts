import { Failure } from '../../../lib/base/errors/failure.ts';
import { readiness, readinessUrl } from '../../certificates/readiness.ts';
import { eventually } from '../../eventually.ts';
import { type Moment, reached, requireInterrupted } from '../../faults/power-cut.ts';
import type { FaultResult, FaultRow } from '../../faults/result.ts';
import { secondsSince, type Trouble, type TroublesOf } from '../../faults/troubles.ts';
import type { Host } from '../../host/host.ts';
import { hostTime } from '../../host/on-host.ts';
import type { SiteResult } from '../../site-arrival.ts';
import { asMachine } from '../machine-host.ts';
import type { MediaNode } from './media-node.ts';

const READY_MS = 6 * 60_000;
/** While the host is changed, and while it is judged: as many restarts as a change outlasts, `reconfigureBootsCount`. */
const OUTLASTED = ['credentials', 'start', 'settle'] as const;
/** One more. */
const TOO_MANY = ['stop', 'files', 'credentials', 'start'] as const;

const rowOf = (step: string, fault = 'power cut'): FaultRow => ({
  plan: 'reconfigure',
  step,
  fault,
});

/** The power fails in each of these steps of one site; the volume is in the drive whenever the host starts again. */
async function cutInEach(node: MediaNode, name: string, steps: readonly string[]): Promise<void> {
  const { signal } = node.run.context;
  const image = await node.volumeFor(name, 'ISO');
  let last: { readonly moment: Moment; readonly from: string } | undefined;
  const early = async (host: Host) => {
    if (last !== undefined) await requireInterrupted(host, last.moment, last.from);
    await asMachine(host).devices.insertCd(image);
  };
  for (const step of steps) {
    const moment: Moment = ['reconfigure', step, 'started'];
    // A machine that is off has no clock to ask; its boot takes longer than the clocks differ.
    const from =
      last === undefined ? await hostTime(node.run.booted, signal) : new Date().toISOString();
    const untilThen = async (host: Host) => {
      await early(host);
      await reached(host, moment, signal, from);
    };
    if (last === undefined) {
      await untilThen(node.run.booted);
      await node.run.booted.powerCut();
    } else await node.run.bootUntilPowerCut(`${name}-${step}`, untilThen);
    last = { moment, from };
  }
  await node.run.bootInstalled(`${name}-after`, early);
}

/** What was interrupted goes on at each start, and the host has the configuration of its site in the end. */
const outlasted = (ofRun: () => MediaNode, name: string): Trouble => {
  const step = OUTLASTED.join(', ');
  const rows = OUTLASTED.map((each) => rowOf(each));
  return {
    name: `power cut in ${step}`,
    row: rowOf(step),
    rows,
    meet: async () => {
      const node = ofRun();
      const began = performance.now();
      const before = await node.lastResult();
      await cutInEach(node, name, OUTLASTED);
      await node.becameUnlike(before, name);
      const seconds = secondsSince(began) / OUTLASTED.length;
      return rows.map((row): FaultResult => ({ ...row, outcome: 'success', seconds }));
    },
  };
};

/** The host takes a change back that it cannot finish: it is as it was before, and at work. */
const tooMany = (ofRun: () => MediaNode, name: string): Trouble => {
  const row = rowOf(TOO_MANY.join(', '), `${TOO_MANY.length} power cuts in one change`);
  return {
    name: row.fault,
    row,
    meet: async () => {
      const node = ofRun();
      const began = performance.now();
      const before = { result: await node.lastResult(), name: await node.hostName() };
      await cutInEach(node, name, TOO_MANY);
      const outcome = await takenBack(node, before.result);
      await node.expectName(before.name);
      await ready(node);
      return [{ ...row, outcome, seconds: secondsSince(began) }];
    },
  };
};

/** Returns the code of what the agent says. */
async function takenBack(node: MediaNode, before: SiteResult | undefined): Promise<string> {
  const { outcome, failure } = await node.resultUnlike(before);
  if (outcome === 'reverted' && failure?.code === 'trial-not-confirmed') return failure.code;
  throw new Failure('fatal', `after ${TOO_MANY.length} power cuts the site is not taken back`, {
    expected: 'reverted, trial-not-confirmed',
    found: `${outcome}, ${failure?.code ?? 'no failure'}`,
  });
}

async function ready(node: MediaNode): Promise<void> {
  const asked = async () => {
    const answer = await readiness(readinessUrl(node.run.booted));
    if (answer !== '200') throw new Failure('retry', 'the API is not ready', { found: answer });
  };
  await eventually(asked, READY_MS, node.run.context.signal);
}

/** Of one site that gets through, and of another that does not, on the same host. */
export const sitePowerCuts: TroublesOf<MediaNode> = (node) => [
  outlasted(node, 'powerless'),
  tooMany(node, 'cut-off'),
];
