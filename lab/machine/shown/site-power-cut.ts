import { type Moment, reached, requireInterrupted } from '../../faults/power-cut.ts';
import type { FaultResult } from '../../faults/result.ts';
import { secondsSince, type Trouble } from '../../faults/troubles.ts';
import type { Host } from '../../host/host.ts';
import { asMachine } from '../machine-host.ts';
import type { MediaNode } from './media-node.ts';

/** Before the host is changed, while it is, and while it is judged. */
const STEPS = ['stop', 'credentials', 'start', 'settle'] as const;
const [FIRST, ...OTHERS] = STEPS.map((step): Moment => ['reconfigure', step, 'started']);
const ROWS = STEPS.map((step) => ({ plan: 'reconfigure', step, fault: 'power cut' }));

/** The power fails in each of the steps of one site; the volume is in the drive whenever the host starts again. */
async function cutInEach(node: MediaNode, name: string): Promise<void> {
  if (FIRST === undefined) return;
  const { signal } = node.run.context;
  const image = await node.volumeFor(name, 'ISO');
  const before = await node.lastResult();
  const since = new Date().toISOString();
  await node.devices.insertCd(image);
  await reached(node.run.booted, FIRST, signal, since);
  await node.run.booted.powerCut();
  let last = FIRST;
  const early = async (host: Host) => {
    await requireInterrupted(host, last);
    await asMachine(host).devices.insertCd(image);
  };
  for (const moment of OTHERS) {
    const from = new Date().toISOString();
    await node.run.bootUntilPowerCut(`cut-${moment[1]}`, async (host) => {
      await early(host);
      await reached(host, moment, signal, from);
    });
    last = moment;
  }
  await node.run.bootInstalled('after-cuts', early);
  await node.becameUnlike(before, name);
}

/** One row for each of the steps. */
export const sitePowerCuts = (node: MediaNode): Trouble => ({
  name: `power cut in ${STEPS.join(', ')}`,
  row: { plan: 'reconfigure', step: STEPS.join(', '), fault: 'power cut' },
  rows: ROWS,
  meet: async () => {
    const began = performance.now();
    await cutInEach(node, 'powerless');
    const seconds = secondsSince(began) / STEPS.length;
    return ROWS.map((row): FaultResult => ({ ...row, outcome: 'success', seconds }));
  },
});
