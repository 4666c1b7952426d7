import { Failure } from '../../../lib/base/errors/failure.ts';
import { exitWithin } from '../../host/unit-state.ts';
import type { Installation } from '../../installation.ts';
import { asMachine } from '../machine-host.ts';

const POWER_OFF_MS = 60_000;

/** The installed host goes down by its power button, and is turned on again. */
export async function pressAndTurnOn(run: Installation, label: string): Promise<void> {
  const machine = asMachine(run.booted);
  await machine.devices.pressPowerButton();
  const exit = await exitWithin(machine, POWER_OFF_MS, run.context.signal);
  if (exit !== 'poweroff') throw new Failure('fatal', 'the host did not turn off', { found: exit });
  await machine.stop();
  await run.bootInstalled(label);
}
