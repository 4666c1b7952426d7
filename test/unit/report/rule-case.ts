import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureData } from '../../../lib/base/errors/failure-data.ts';
import type { CollectFailure, Finding } from '../../../report/bundle-view.ts';

/** Files of a bundle made at 15:20 (view.ts), and the findings expected of one rule. */
export interface RuleCase {
  readonly rule: string;
  /** Description of the situation. */
  readonly of: string;
  readonly files: Readonly<Record<string, string>>;
  readonly failures?: readonly CollectFailure[];
  /** Absent: no findings. */
  readonly finds?: readonly {
    readonly severity: Finding['severity'];
    readonly title: RegExp;
    readonly todo?: RegExp;
    /** `FILE:LINE` of the first evidence. */
    readonly at?: string;
  }[];
}

/** The folder of the installed host. */
export const M = 'control-plane/master';

export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** A list in the API's format. */
export const list = (...items: unknown[]): string => json({ kind: 'List', items });

export const object = (
  name: string,
  { namespace, created, ...rest }: { namespace?: string; created?: string; [key: string]: unknown },
) => ({ metadata: { name, namespace, creationTimestamp: created }, ...rest });

export const condition = (type: string, status: string, message: string, since: string) => ({
  type,
  status,
  message,
  reason: `${type}Reason`,
  lastTransitionTime: since,
});

/** A block of `systemctl show`. */
export const shown = (
  unit: string,
  active: string,
  sub: string,
  { since = 'Sat 2026-11-21 14:58:45 UTC', result = 'success', restarts = 0, load = 'loaded' } = {},
): string =>
  `Id=${unit}\nLoadState=${load}\nActiveState=${active}\nSubState=${sub}\nResult=${result}\nNRestarts=${restarts}\nExecMainStatus=${result === 'success' ? 0 : 1}\nStateChangeTimestamp=${since}\n`;

/** An entry of units.json: a unit that others refer to, without a file. */
export const notFound = (unit: string) => ({
  unit,
  load: 'not-found',
  active: 'inactive',
  sub: 'dead',
});

/** A failure as recorded by agents; a string is its sentence. */
const written = (failed: string | Failure) => ({
  failure: failureData(typeof failed === 'string' ? new Failure('fatal', failed) : failed),
});

/** An entry of a step journal. */
export const step = (
  at: string,
  name: string,
  event: string,
  failed?: string | Failure,
  more: object = {},
): string =>
  `${JSON.stringify({ at: `2026-11-21T${at}Z`, boot: 'b1', up: seconds(at), step: name, input: 'i', attempt: 1, event, ...(failed === undefined ? {} : written(failed)), ...more })}\n`;

const seconds = (at: string) => (Date.parse(`2026-11-21T${at}Z`) - 1_795_000_000_000) / 1000;

/** The marker of an all-in-one host whose installation is not complete. */
export const AIO = {
  [`${M}/agents/installation.json`]: json({ state: 'writing', machine: 'dmi:1' }),
};
/** The record of a complete installation. */
export const COMPLETE = {
  [`${M}/agents/record.json`]: json({ completed: '2026-11-21T15:00:00Z' }),
};

/** The step journal of an agent of the installed host. */
export const installed = (agent: string, ...lines: string[]) => ({
  [`${M}/steps/${agent}.jsonl`]: lines.join(''),
});
