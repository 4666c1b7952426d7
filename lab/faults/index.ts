import type { Scenario } from '../scenario.ts';
import { aioResumed } from './aio-resumed.ts';
import { faultCells } from './cells/index.ts';
import { gatheredAnywhere } from './gathered.ts';
import { aioKilledInEveryStep, killedInEveryStep } from './killed-in-every-step.ts';
import { mediumAgain } from './medium-again.ts';
import { aioPowerCut, powerCut } from './power-cut.ts';
import { badManifests, missingDns, wrongExecutable, wrongPayload } from './refused.ts';

/** Faults at a site, each with its own scenario; `npm run test:faults` runs all of them. */
export const faults: Readonly<Record<string, Scenario>> = {
  'missing-dns': missingDns,
  'bad-manifests': badManifests,
  'wrong-payload': wrongPayload,
  'wrong-executable': wrongExecutable,
  gather: gatheredAnywhere,
  'medium-again': mediumAgain,
  'power-cut': powerCut,
  'killed-in-every-step': killedInEveryStep,
  'aio-resumed': aioResumed,
  'aio-power-cut': aioPowerCut,
  'aio-killed-in-every-step': aioKilledInEveryStep,
  ...faultCells,
};
