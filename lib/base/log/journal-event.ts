import { formatLine, loggedLine } from './line.ts';
import { EVENTS, type EventName } from './message-ids.ts';

/** The fields of an event. Each becomes a journal field, named in FIELDS. */
export interface EventFields {
  readonly step?: string | undefined;
  /** Number of the step in its plan, from 1, and the number of steps. */
  readonly stepNumber?: number | undefined;
  readonly steps?: number | undefined;
  readonly attempt?: number | undefined;
  /** Duration of the run in seconds, the part of it spent waiting, and processor time. */
  readonly seconds?: number | undefined;
  readonly waited?: number | undefined;
  readonly cpu?: number | undefined;
  /** Seconds left until the step's deadline. */
  readonly left?: number | undefined;
  readonly waitingFor?: string | undefined;
  readonly exit?: number | undefined;
  /** The parts of a failure. */
  readonly code?: string | undefined;
  readonly kind?: string | undefined;
  readonly what?: string | undefined;
  readonly expected?: string | undefined;
  readonly found?: string | undefined;
  readonly fix?: string | undefined;
  readonly cause?: string | undefined;
  readonly stack?: string | undefined;
}

interface Field {
  /** In the journal: `journalctl STEP=etcd`. */
  readonly name: string;
  /**
   * The unit printed after the number in the line for people; fields without it are
   * not printed there.
   */
  readonly shown?: string;
}

/** In the order of the line for people. */
const FIELDS: { readonly [Name in keyof Required<EventFields>]: Field } = {
  step: { name: 'STEP' },
  stepNumber: { name: 'STEP_NUMBER' },
  steps: { name: 'STEPS' },
  attempt: { name: 'ATTEMPT', shown: '' },
  left: { name: 'LEFT_SECONDS', shown: 's' },
  seconds: { name: 'SECONDS', shown: 's' },
  waited: { name: 'WAITED_SECONDS' },
  cpu: { name: 'CPU_SECONDS' },
  waitingFor: { name: 'WAITING_FOR' },
  exit: { name: 'EXIT', shown: '' },
  code: { name: 'CODE', shown: '' },
  kind: { name: 'KIND' },
  what: { name: 'WHAT' },
  expected: { name: 'EXPECTED' },
  found: { name: 'FOUND' },
  fix: { name: 'FIX' },
  cause: { name: 'CAUSE' },
  stack: { name: 'STACK' },
};

/** Maximum length of a value in characters: an entry has to fit a datagram. */
const MAX_VALUE = 8192;

/** The source of events: the agent's name and process id. */
export interface EventOrigin {
  readonly agent: string;
  readonly pid: number;
}

/** The line for people, the same in the journal and on a terminal. Without secrets. */
export function eventLine(sentence: string, fields: EventFields): string {
  const shown = entriesOf(fields).flatMap(([key, { shown: unit }, value]) =>
    unit === undefined ? [] : [[key, `${value}${unit}`]],
  );
  return formatLine(JSON.stringify({ msg: sentence, ...Object.fromEntries(shown) }), false);
}

/**
 * The event in the input format of `logger --journald`: one field per line. An
 * empty line ends an entry and any line counts as a field, so no value may contain
 * a line break.
 *
 * OBJECT_PID makes journald add OBJECT_SYSTEMD_UNIT, by which `journalctl -u` finds
 * the entry: _SYSTEMD_UNIT is missing if `logger` has ended before journald looks
 * it up.
 */
export function journalEntry(
  event: EventName,
  { agent, pid }: EventOrigin,
  sentence: string,
  fields: EventFields,
): string {
  const { id, priority } = EVENTS[event];
  const own: [string, string | number][] = [
    ['MESSAGE', eventLine(sentence, fields)],
    ['MESSAGE_ID', id],
    ['PRIORITY', priority],
    ['SYSLOG_IDENTIFIER', agent],
    ['OBJECT_PID', pid],
    ['AGENT', agent],
    ['EVENT', event],
  ];
  const given = entriesOf(fields).map(([, { name }, value]): [string, string] => [
    name,
    safeValue(value),
  ]);
  return [...own, ...given].map(([name, value]) => `${name}=${value}\n`).join('');
}

function entriesOf(fields: EventFields): [string, Field, string | number][] {
  return Object.entries(FIELDS).flatMap(([key, field]): [string, Field, string | number][] => {
    const value = Object.entries(fields).find(([name]) => name === key)?.[1];
    return value === undefined || value === '' ? [] : [[key, field, value]];
  });
}

/** One line, without secrets, of bounded length. */
function safeValue(value: string | number): string {
  const line = loggedLine(String(value));
  return line.length > MAX_VALUE ? `${line.slice(0, MAX_VALUE)} ...` : line;
}
