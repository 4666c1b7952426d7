import { Command } from 'commander';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { scriptNames } from '../../../lib/clients/rights/names.ts';
import { parseSince, SINCE_FORMS } from './since.ts';

/** The names that gather can be called by. */
export const ENTRANCES = ['gather', ...scriptNames] as const;

export type Entrance = (typeof ENTRANCES)[number];

export const isEntrance = (name: string): name is Entrance =>
  ENTRANCES.some((entrance) => entrance === name);

const PURPOSE: Readonly<Record<Entrance, string>> = {
  gather: 'collects what explains the state of this host into a log bundle without secrets',
  'installer-gather.sh': 'collects the log bundle of this host, as openshift-install calls it',
  'installer-masters-gather.sh':
    'collects the logs of this host into the folder /tmp/artifacts-ID, as part of a larger bundle',
  'installer-master-bootstrap-in-place-gather.sh':
    'collects the log bundle of an installed host, with that of its bootstrap inside',
};

/** The parsed request; validated without looking at the host. */
export interface GatherArguments {
  readonly entrance: Entrance;
  readonly action: 'gather' | 'list' | 'plan';
  readonly id: string;
  readonly sinceMs?: number;
  /** Groups; empty: all. */
  readonly only: ReadonlySet<string>;
  /** As given: `-`, a file or a folder. */
  readonly to?: string;
  readonly limitBytes?: number;
  readonly masters: readonly string[];
  /** Of age, for whom the bundle is encrypted; empty: those of the settings. */
  readonly recipients: readonly string[];
  /** Not even for those of the settings: the caller unpacks it. */
  readonly isPlain: boolean;
  /** Stops when its standard input ends: how an unprivileged caller stops it. */
  readonly stopsWithInput: boolean;
}

interface RawOptions {
  readonly id?: string;
  readonly since?: string;
  readonly only?: string;
  readonly to?: string;
  readonly limit?: string;
  readonly list?: true;
  readonly recipient?: readonly string[];
  readonly plain?: true;
  readonly stopWithInput?: true;
}

export interface CommandLineContext {
  readonly now: Date;
  readonly groups: readonly string[];
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

const MIB = 2 ** 20;
const ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;
const MASTER = /^[A-Za-z0-9._:[\]%-]{1,253}$/;

/**
 * Parses the command line.
 * @throws CommanderError after help, or for an unknown option
 * @throws Failure (usage) that lists every invalid value
 */
export function parseArguments(
  entrance: Entrance,
  args: readonly string[],
  context: CommandLineContext,
): GatherArguments {
  const program = commandOf(entrance, context);
  program.parse([...args], { from: 'user' });
  return argumentsOf(entrance, program.opts<RawOptions>(), program.args, context);
}

function commandOf(entrance: Entrance, { groups, stdout, stderr }: CommandLineContext): Command {
  const program = new Command(entrance)
    .description(PURPOSE[entrance])
    .argument('[MASTER...]', 'names or addresses of this host; other hosts are not contacted')
    .option('--id <ID>', 'name of the bundle (default: the current time, YYYYMMDDhhmmss UTC)')
    .option('--since <TIME>', `only newer data, if the source supports it: ${SINCE_FORMS}`)
    .option('--only <GROUPS>', `only these groups, separated by commas: ${groups.join(', ')}`)
    .option(
      '--to <PLACE>',
      `a file, - for standard output, or a folder: ${DEFAULT_PLACE[entrance]}`,
    )
    .option(
      '--limit <MiB>',
      'size limit of the bundle; what does not fit is left out, the oldest journal first',
    )
    .option<string[]>(
      '--recipient <age1...>',
      'encrypt the bundle for this recipient of age; may be given several times (default: gatherRecipients of the settings)',
      (recipient, before) => [...(before ?? []), recipient],
    )
    .option('--list', 'print what would be collected on this host')
    .exitOverride()
    .configureOutput({ writeOut: stdout, writeErr: stderr })
    .addHelpText(
      'after',
      `\n"${entrance} plan" prints the groups. Exit codes: 0 a bundle was written (its gather.log lists what is missing), 1 no bundle, 2 invalid usage.`,
    );
  program.addOption(program.createOption('--stop-with-input').hideHelp());
  program.addOption(program.createOption('--plain').hideHelp());
  return program;
}

const DEFAULT_FILE = '$TAR_FILE or ~/log-bundle-ID.tar.gz by default';
const DEFAULT_PLACE: Readonly<Record<Entrance, string>> = {
  gather: DEFAULT_FILE,
  'installer-gather.sh': DEFAULT_FILE,
  'installer-masters-gather.sh': '/tmp/artifacts-ID/ by default',
  'installer-master-bootstrap-in-place-gather.sh': DEFAULT_FILE,
};

function argumentsOf(
  entrance: Entrance,
  options: RawOptions,
  positional: readonly string[],
  { now, groups }: CommandLineContext,
): GatherArguments {
  const { id = timestamp(now), to, since, limit, list, stopWithInput } = options;
  const { recipient: recipients = [], plain } = options;
  const isPlan = entrance === 'gather' && positional[0] === 'plan';
  const [after, masters] = isPlan ? [positional.slice(1), []] : [[], positional];
  const sinceMs = since === undefined ? undefined : parseSince(since, now.getTime());
  const only = options.only?.split(',') ?? [];
  const unknown = only.filter((name) => !groups.includes(name));
  const faults = [
    fault('--id', ID.test(id), 'up to 64 of A-Z a-z 0-9 . _ - without a dot in front', id),
    fault(
      '--since',
      since === undefined || sinceMs !== undefined,
      `a time in the past, as ${SINCE_FORMS}`,
      since,
    ),
    fault('--only', unknown.length === 0, `groups of ${groups.join(', ')}`, ...unknown),
    fault('--to', isPath(to), 'a path', to),
    fault('--limit', limit === undefined || isSize(limit), 'MiB as a positive number', limit),
    fault('plan', after.length === 0, 'nothing after it', ...after),
    ...masters.map((name) => fault('MASTER', MASTER.test(name), 'a host name or an address', name)),
  ].filter((text) => text !== undefined);
  if (faults.length > 0) {
    throw new Failure('usage', faults.join('\n'), { fix: `See ${entrance} --help.` });
  }
  return {
    entrance,
    action: isPlan ? 'plan' : list === true ? 'list' : 'gather',
    id,
    only: new Set(only),
    masters,
    recipients,
    isPlain: plain === true,
    stopsWithInput: stopWithInput === true,
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(to === undefined ? {} : { to }),
    ...(limit === undefined ? {} : { limitBytes: Math.round(Number(limit) * MIB) }),
  };
}

function fault(
  name: string,
  isRight: boolean,
  expected: string,
  ...found: readonly (string | undefined)[]
): string | undefined {
  if (isRight) return undefined;
  const shown = found.map((value = '') => JSON.stringify(value.slice(0, 100))).join(', ');
  return `${name}: expected ${expected}, found ${shown}`;
}

const isSize = (text: string) => /^\d{1,7}(\.\d{1,3})?$/.test(text) && Number(text) > 0;

/** Undefined, or a path without NUL and line breaks. */
const isPath = (path: string | undefined) =>
  path === undefined || (path !== '' && !/\p{Cc}/u.test(path));

/** `YYYYMMDDhhmmss`, UTC, the format that openshift-install uses in bundle names. */
export const timestamp = (date: Date) => date.toISOString().replaceAll(/[-:T]|\..*$/g, '');
