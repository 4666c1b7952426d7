import { EXIT } from '../../base/errors/exit-codes.ts';
import { failureSentence } from '../../base/errors/failure-data.ts';
import { endsInstallation, installs, keepsKubelet } from '../agents/table.ts';
import type { AgentStatus } from '../steps/status.ts';
import { failureCode, type Photographed } from './photographed.ts';
import { progressLine } from './progress-line.ts';
import { PLAIN_WORDS, shownOnConsole } from './wording.ts';

/** Facts about a finished installation. */
export interface Installed {
  /** The cluster's full name. */
  readonly cluster: string;
  /** When it completed, as an ISO date. */
  readonly completed: string;
  /** The volume by which it was set up for its site, if that was the last one that it had, and when. */
  readonly site?: { readonly serial: number; readonly since: string };
  /** It is sealed: its kubelet starts once a site volume was inserted. */
  readonly awaitsSite?: boolean;
  /** Why what is inserted is no site volume, a sentence each: what the host has found last. */
  readonly stickNotes?: readonly string[];
  /** The last change, if the host was brought back to what it was before because somebody asked for that. */
  readonly takenBack?: { readonly what: string; readonly at: string };
  /** The last change of the host was kept: an earlier one that was taken back is of no interest any more. */
  readonly isConfirmed?: boolean;
}

/** The first thing a technician wants to know. */
export type IssueVerdict =
  | 'installing'
  | 'moving'
  | 'restarting'
  | 'waiting'
  | 'installed'
  | 'failed';

export interface Issue {
  readonly verdict: IssueVerdict;
  /** As agetty prints it above the login prompt. */
  readonly text: string;
}

const WIDTH = 78;

/**
 * The login prompt's text about this host: whether it is installed, what failed and
 * what to do. `statuses` are those of the agents that have run since the host
 * started; `host` is for the QR code of a failure. Undefined if nothing is known.
 */
export function issueOf(
  statuses: readonly AgentStatus[],
  installed: Installed | undefined,
  host?: Photographed,
): Issue | undefined {
  const notes = notesOf(installed);
  // The volume before the stick that was inserted last may have been refused.
  const isOutdated = ({ agent, state }: AgentStatus) =>
    notes.length > 0 && agent === 'reconfigure' && state === 'failed';
  const told = statuses.filter(
    (status) => Object.hasOwn(PLAIN_WORDS, status.agent) && !isOutdated(status),
  );
  const failed = withoutEcho(told, installed).filter(isFinal);
  const [first] = failed;
  if (first !== undefined) {
    // First: a small screen scrolls it away, and keeps the text.
    const code = host && failureCode(first.failure?.code ?? 'unknown', host);
    return issue('failed', failed.flatMap(failureLines).concat(AFTER), code);
  }
  const restarting = told.find(({ state }) => state === 'reboot');
  if (restarting !== undefined) {
    const line = installs(restarting.agent)
      ? 'The disk is written. This host restarts into it automatically.'
      : `This host restarts automatically: ${restarting.reason ?? 'no reason given'}`;
    return issue('restarting', [line]);
  }
  const running = told.filter(({ state }) => state === 'running' || state === 'failed');
  const site = running.find(({ agent }) => agent === 'reconfigure');
  if (site !== undefined) {
    const now = 'This host is being set up for its site. Do not switch it off.';
    return issue('moving', [now, nowLine(site)]);
  }
  if (installed?.awaitsSite === true) {
    return issue('waiting', [
      'This host waits for its site volume. Insert the stick, or attach the virtual CD.',
      ...takenBackLines(installed),
      ...notes,
    ]);
  }
  if (installed !== undefined && !running.some(({ agent }) => endsInstallation(agent))) {
    const { cluster, completed, site } = installed;
    const day = (site?.since ?? completed).slice(0, 10);
    const pass =
      site === undefined
        ? `installed: cluster ${cluster}`
        : `set up for its site: cluster ${cluster}, volume ${site.serial}`;
    return issue('installed', [
      `PASS: this host is ${pass}, since ${day}. Nothing is left to do.`,
      ...takenBackLines(installed),
      ...running.map(nowLine),
    ]);
  }
  if (told.length === 0) return undefined;
  return issue('installing', [
    'This host is being installed. Do not switch it off.',
    ...running.map(nowLine),
  ]);
}

/**
 * Whether the text is shown at once at every prompt, in place of `before`. A prompt may be the only thing that a technician
 * sees: on the screen, while the progress goes to a serial console. Each step at a site is shown there, but not how long it
 * takes: redrawing scrolls away what a person is reading.
 */
export function isShownAtOnce({ verdict, text }: Issue, before: string | undefined): boolean {
  if (before === undefined) return true;
  if (verdict === 'installing') return headline(text) !== headline(before);
  return verdict !== 'moving' || withoutPace(text) !== withoutPace(before);
}

const headline = (text: string): string => text.trimStart().split('\n')[0] ?? '';
const withoutPace = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/, after [\d:]+, usually [\d:]+ in all/g, '');

const AFTER = [
  'If that does not help, photograph this screen, leave the host switched on and',
  'call support. The host has collected its logs automatically.',
];

/** What systemd does not restart: exit code 1 is retried, except for a oneshot. */
function isFinal({ agent, state, exitCode }: AgentStatus): boolean {
  return state === 'failed' && (exitCode !== EXIT.retryable || keepsKubelet(agent));
}

/**
 * A site that was taken back is one failure: reconfigure says why, and what to do. It is none any more while the next volume
 * is at work, and once that is kept. What sno-trial could not put back is another one.
 */
function withoutEcho(
  told: readonly AgentStatus[],
  installed: Installed | undefined,
): AgentStatus[] {
  const isNewer =
    notesOf(installed).length > 0 ||
    told.some(
      ({ agent, state }) => agent === 'reconfigure' && (state === 'failed' || state === 'running'),
    );
  if (!isNewer && installed?.isConfirmed !== true) return [...told];
  return told.filter(
    ({ agent, failure }) => agent !== 'sno-trial' || failure?.code !== 'trial-reverted',
  );
}

/** Only a host that waits for its site looks at sticks. */
const notesOf = (installed: Installed | undefined): readonly string[] =>
  installed?.awaitsSite === true ? (installed.stickNotes ?? []) : [];

const takenBackLines = ({ takenBack }: Installed): string[] =>
  takenBack === undefined
    ? []
    : [`On ${takenBack.at.slice(0, 10)} ${takenBack.what} was taken back, as somebody has asked.`];

function failureLines(status: AgentStatus): string[] {
  const { agent, failure, reason } = status;
  const who = Object.entries(PLAIN_WORDS).find(([name]) => name === agent)?.[1] ?? agent;
  if (failure === undefined) return [`FAILED: ${who}: ${reason ?? 'no reason given'}`];
  const { fix, ...facts } = failure;
  return [
    `FAILED: ${who}: ${failureSentence(facts)}`,
    ...(fix === undefined ? [] : [`What to do: ${fix}`]),
    `Code: ${failure.code}`,
  ];
}

/** Not shown as a failure while systemd retries: people could do nothing about it. */
const nowLine = (status: AgentStatus): string =>
  `Now: ${progressLine({ ...status, state: 'running' }) ?? status.agent}`;

function issue(verdict: IssueVerdict, lines: readonly string[], picture = ''): Issue {
  const text = lines.flatMap((line) => wrapped(escaped(shownOnConsole(line)))).join('\n');
  return { verdict, text: `\n${picture}${text}\n\n` };
}

/** agetty interprets a backslash as an escape sequence (`man 8 agetty`). */
const escaped = (line: string): string => line.replaceAll('\\', '\\\\');

function wrapped(line: string): string[] {
  const lines = [''];
  for (const word of line.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
