import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { eventually } from '../eventually.ts';

const REQUEST_MS = 30_000;
/** It fetches the whole image before it answers. */
const INSERT_MS = 5 * 60_000;
/** A machine is switched some seconds after its BMC was told. */
const POWER_MS = 5 * 60_000;

const systemSchema = z.object({ PowerState: z.string() });
const mediumSchema = z.object({ Inserted: z.boolean(), Image: z.string().nullish() });

/** A system of a BMC (DMTF DSP0266), with the requests that Ironic makes. */
export class Redfish {
  readonly #url: string;
  readonly #signal: AbortSignal;

  constructor(url: string, signal: AbortSignal) {
    this.#url = url;
    this.#signal = signal;
  }

  /** Returns once the system is so. */
  async power(state: 'On' | 'Off'): Promise<void> {
    const reset = { ResetType: state === 'On' ? 'On' : 'ForceOff' };
    await this.#ask('/Actions/ComputerSystem.Reset', reset);
    const look = async () => {
      const { PowerState: found } = systemSchema.parse(await this.#ask(''));
      if (found !== state)
        throw new Failure('retry', 'the power is another', { expected: state, found });
    };
    await eventually(look, POWER_MS, this.#signal);
  }

  async insert(url: string): Promise<void> {
    const wanted = { Image: url, Inserted: true, WriteProtected: true };
    await this.#ask('/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia', wanted, INSERT_MS);
  }

  async eject(): Promise<void> {
    await this.#ask('/VirtualMedia/Cd/Actions/VirtualMedia.EjectMedia', {});
  }

  /** The address of what is in the drive. */
  async inserted(): Promise<string | undefined> {
    const { Inserted, Image } = mediumSchema.parse(await this.#ask('/VirtualMedia/Cd'));
    return Inserted ? (Image ?? undefined) : undefined;
  }

  async #ask(path: string, body?: object, deadlineMs = REQUEST_MS): Promise<unknown> {
    const answer = await fetch(`${this.#url}${path}`, {
      ...(body === undefined
        ? {}
        : {
            method: 'POST',
            body: JSON.stringify(body),
            headers: { 'content-type': 'application/json' },
          }),
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(deadlineMs)]),
    });
    const text = await answer.text();
    if (answer.ok) return text === '' ? undefined : JSON.parse(text);
    throw new Failure('retry', `the BMC refuses ${path || 'the system'}`, {
      found: `${answer.status} ${text.slice(0, 500)}`,
    });
  }
}
