import type { AgentSettings } from './agent-settings.ts';

let factor = 1;

/** From now on, everything that the lab waits for may take so many times as long: its hosts are slower. */
export function bePatient(times: number): void {
  factor = times;
}

/** A deadline of the lab on the hosts of this run; `ms` is that on a container. The product's own are in its settings. */
export const patient = (ms: number): number => ms * factor;

/** Whether the hosts of this run are slower than containers. */
export const isPatient = (): boolean => factor > 1;

/** What an administrator of such a slow host would set: gather has deadlines for hosts of usual speed. */
export const slowHostSettings = (): AgentSettings =>
  factor === 1
    ? {}
    : {
        gatherPatiencePercent: 100 * factor,
        gatherMs: 220_000,
        gatherDiagnosisMs: 120_000,
        collectObjectsMs: 360_000,
      };
