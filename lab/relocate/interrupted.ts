import { reconfigurePlan } from '../../agents/reconfigure/plan.ts';
import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { bootAgain, nextBoot } from '../faults/cells/faults.ts';
import { runKilled } from '../faults/cells/killed.ts';
import type { PlanUnderTest } from '../faults/cells/plan.ts';
import { type Moment, reached, requireInterrupted } from '../faults/power-cut.ts';
import type { FaultResult } from '../faults/result.ts';
import { secondsSince } from '../faults/troubles.ts';
import { SITE } from '../host/network.ts';
import { siteHost } from '../relocation.ts';
import { HELLO_IMAGE } from '../test-workload.ts';
import { FACTORY_SETTINGS, writeFactorySettings } from './factory.ts';
import { expectSite, siteConfig } from './media.ts';
import { expectTold } from './network-faults.ts';
import { staticNetwork } from './networks.ts';
import type { ShippedNode } from './shipped-node.ts';
import { expectUnchanged, snapshotOf } from './unchanged.ts';

const AGENT = 'reconfigure';

/** With a network to apply: a step of its own. */
const siteWithNetwork = (name: string) =>
  siteConfig(name, {
    raw_nm_state_config: staticNetwork(siteHost.addresses[0], SITE.segments.IPv4.bridge),
  });

/** It ends again and again. */
const restless = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'restless', namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'restless',
        image: HELLO_IMAGE,
        imagePullPolicy: 'Never',
        command: ['busybox', 'false'],
      },
    ],
  },
});

/** What the site adds never comes to rest: the node is that of the factory again, and answers. */
export async function neverSettles(run: ShippedNode): Promise<string> {
  const { signal } = run.context;
  await run.expectFactoryCluster();
  const before = await snapshotOf(run.booted, signal);
  const manifests = { '10-restless.yaml': restless };
  const ended = await run.bring('ISO', { config: siteConfig('restless'), manifests });
  expectTold(ended, { outcome: 'reverted', codes: [], exitCode: EXIT.fatal, fix: /What to do/ });
  await run.drive.eject(run.booted, signal);
  await run.expectFactoryCluster();
  expectUnchanged(before, await snapshotOf(run.booted, signal));
  return ended.code === '' ? 'reverted' : ended.code;
}

/** The agent is killed once in each of its steps, and the site is in use in the end. */
export async function killedInEveryStep(run: ShippedNode): Promise<FaultResult[]> {
  const { signal } = run.context;
  const name = 'killed';
  const plan: PlanUnderTest = {
    agent: AGENT,
    steps: reconfigurePlan(defaultSettings).steps,
    settings: FACTORY_SETTINGS,
    prepare: async () => {
      const { image } = await run.createVolume('ISO', { config: siteWithNetwork(name) });
      return {
        start: () => run.begin((drive) => drive.insert(run.booted, image, signal)),
        proof: async () => expectSite(run, name, await run.lastEnded()),
      };
    },
  };
  const rows = await runKilled(run, plan);
  await writeFactorySettings(run.booted);
  return rows;
}

/**
 * One volume, and a power cut in each of these steps.
 *
 * @param staysIn whether the medium is still in the drive when the host starts again.
 */
export async function powerCutIn(
  run: ShippedNode,
  name: string,
  steps: readonly [string, ...string[]],
  staysIn: boolean,
): Promise<FaultResult[]> {
  const { signal } = run.context;
  const began = performance.now();
  const { image } = await run.createVolume('ISO', { config: siteWithNetwork(name) });
  const [first, ...others] = steps.map((step): Moment => [AGENT, step, 'started']);
  if (first === undefined) return [];
  let last = { moment: first, from: new Date().toISOString() };
  await run.begin((drive) => drive.insert(run.booted, image, signal));
  await reached(run.booted, first, signal, last.from);
  await run.booted.powerCut();
  run.host = undefined;
  const early = async (host: ShippedNode['booted']) => {
    await requireInterrupted(host, last.moment, last.from);
    if (staysIn) await run.drive.appear(host, signal);
  };
  for (const moment of others) {
    const from = new Date().toISOString();
    await run.bootUntilPowerCut(nextBoot(run), async (host) => {
      await early(host);
      await reached(host, moment, signal, from);
    });
    last = { moment, from };
  }
  await bootAgain(run, early);
  await run.untilDone();
  await expectSite(run, name, await run.lastEnded());
  await run.drive.eject(run.booted, signal);
  const seconds = Math.round((secondsSince(began) / steps.length) * 10) / 10;
  return steps.map((step) => ({
    plan: AGENT,
    step,
    fault: 'power cut',
    outcome: 'success',
    seconds,
  }));
}
