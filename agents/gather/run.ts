import type { Readable, Writable } from 'node:stream';
import type { Encrypter } from 'age-encryption';
import { CommanderError } from 'commander';
import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { inOneLine, printableLines } from '../../lib/base/printable.ts';
import { encrypterFor, recipientsIn } from '../../lib/change/backup/portable/recipients.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { readSoundSettings, type Settings } from '../../lib/host/settings.ts';
import { failedOutcome, type GatherOutcome } from '../../report/gather-record.ts';
import { Limit, timeOf } from './collecting/abort.ts';
import { listSources } from './collecting/listing.ts';
import { tell, tellPlace } from './entrance/closing-words.ts';
import { type Entrance, type GatherArguments, parseArguments } from './entrance/command-line.ts';
import {
  type Destination,
  destinationOf,
  type OpenOptions,
  openDestination,
} from './entrance/destination.ts';
import { otherMasters, ownNames } from './entrance/masters.ts';
import type { Owner } from './entrance/output.ts';
import { GatherProgress, type WordStream } from './entrance/progress.ts';
import { gatherThroughSudo, listThroughSudo } from './entrance/through-sudo.ts';
import {
  openWorkplace,
  removeDeadWork,
  type Workplace,
  workCandidates,
} from './entrance/workplace.ts';
import { gather } from './gather.ts';
import type { GatherHost } from './gather-host.ts';
import type { SourceGroup } from './source.ts';
import { stageOf } from './stage.ts';

const MIB = 2 ** 20;

/** The environment of a gather run; tests pass another one. */
export interface GatherSurroundings {
  readonly paths: HostPaths;
  readonly catalogue: readonly SourceGroup[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
  /** The caller, if different from the user that the process runs as. */
  readonly owner: Owner | undefined;
  /** The command that restarts this program as root. */
  readonly self: readonly string[];
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & WordStream;
  /** Abort it to end the collection early. */
  readonly signal: AbortSignal;
}

/**
 * One gather run. Returns the exit code: 0 bundle written, 1 no bundle, 2 invalid request,
 * nothing written.
 */
export async function runGatherCommand(
  entrance: Entrance,
  args: readonly string[],
  surroundings: GatherSurroundings,
): Promise<number> {
  const { stdout, stderr, catalogue } = surroundings;
  // EPIPE is reported to the writer; without a listener it would end the process.
  stdout.on('error', () => undefined);
  stderr.on('error', () => undefined);
  try {
    const parsed = parseArguments(entrance, args, {
      now: new Date(),
      groups: [...new Set(catalogue.map(({ name }) => name))],
      stdout: (text) => void stdout.write(printableLines(text)),
      stderr: (text) => void stderr.write(printableLines(text)),
    });
    return await act(parsed, surroundings);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (isBrokenPipe(error)) return EXIT.retryable;
    stderr.write(printableLines(`${entrance}: ${describeError(error)}\n`));
    return error instanceof Failure && error.kind === 'usage' ? EXIT.usage : EXIT.retryable;
  }
}

const isBrokenPipe = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE';

async function act(args: GatherArguments, surroundings: GatherSurroundings): Promise<number> {
  const { catalogue, paths, environment, isRoot, stdout } = surroundings;
  const groups = catalogue.filter(({ name }) => args.only.size === 0 || args.only.has(name));
  if (args.action === 'plan') {
    for (const [name, parts] of byName(groups)) {
      const deadlineMs = Math.max(...parts.map((part) => part.deadlineMs));
      stdout.write(`${name.padEnd(16)} listed within ${deadlineMs / 1000} s\n`);
    }
    return EXIT.done;
  }
  const { settings, failures } = await settingsOf(paths);
  if (!isRoot && args.stopsWithInput) throw new Failure('retry', 'sudo did not run this as root');
  if (args.action === 'list') {
    return isRoot
      ? list(args, groups, settings, surroundings)
      : listThroughSudo(args, surroundings);
  }
  const { encrypter, fault } = encryption(args, settings);
  const destination = await destinationOf(args, encrypter !== undefined, environment, paths);
  const isFolder = destination.kind === 'folder';
  if (isFolder && args.recipients.length > 0) {
    throw new Failure('usage', '--recipient: a folder is not encrypted', {
      fix: 'Write the bundle to a file with --to.',
    });
  }
  const asked: Asked = {
    args,
    groups,
    settings,
    failures: [...failures, ...fault],
    destination,
    encrypter: isFolder ? undefined : encrypter,
  };
  return isRoot ? gatherHere(asked, surroundings) : gatherAsUser(asked, surroundings);
}

interface Asked {
  readonly args: GatherArguments;
  readonly groups: readonly SourceGroup[];
  readonly settings: Settings;
  readonly failures: readonly GatherOutcome[];
  readonly destination: Destination;
  readonly encrypter: Encrypter | undefined;
}

/**
 * For whom the bundle is encrypted. A fault in the settings does not prevent a bundle, which says that it is not encrypted.
 * @throws Failure (usage) for a recipient of the command line
 */
function encryption(
  { recipients, isPlain }: GatherArguments,
  { gatherRecipients }: Settings,
): { encrypter?: Encrypter; fault: readonly GatherOutcome[] } {
  if (recipients.length > 0) return { encrypter: encrypterFor(recipients), fault: [] };
  const named = isPlain ? [] : recipientsIn(gatherRecipients);
  if (named.length === 0) return { fault: [] };
  try {
    return { encrypter: encrypterFor(named), fault: [] };
  } catch (error) {
    const failure = `the bundle is not encrypted: gatherRecipients: ${describeError(error)}`;
    return { fault: [failedOutcome('settings', failure)] };
  }
}

/** An invalid settings file is reported; it does not prevent the bundle. */
async function settingsOf(paths: HostPaths) {
  const { settings, fault } = await readSoundSettings(paths);
  const failures =
    fault === undefined
      ? []
      : [failedOutcome('settings', `the defaults were used: ${describeError(fault)}`)];
  return { settings, failures };
}

async function gatherHere(asked: Asked, surroundings: GatherSurroundings): Promise<number> {
  const { args, settings, destination } = asked;
  const { paths, environment, owner } = surroundings;
  using stop = stopLimit(args, surroundings);
  using limit = new Limit([stop.signal], timeOf('the bundle', settings.gatherMs));
  const folders = workCandidates(paths, environment);
  await removeDeadWork(folders);
  await using workplace = await openWorkplace(folders, settings);
  const options = openOptions(asked, surroundings, {
    owner,
    refuge: paths.run,
    signal: stop.signal,
  });
  const opened = await openDestination(destination, options);
  try {
    const host = await hostOf(args, settings, workplace, paths);
    const progress = new GatherProgress(surroundings.stderr);
    const result = await gather(
      {
        id: args.id,
        groups: asked.groups,
        only: args.only,
        sink: opened.sink,
        limitBytes: Math.min(args.limitBytes ?? settings.gatherMaxMiB * MIB, opened.roomBytes),
        place: workplace.place,
        isEncrypted: asked.encrypter !== undefined,
        failures: [...asked.failures, ...otherMasters(args.masters, ownNames())],
        signal: limit.signal,
        phase: (text) => progress.phase(text),
        progress: (done, of, path) => progress.step(done, of, path),
      },
      host,
    );
    progress.end();
    tell(result, workplace, await opened.commit(), wordsOf(destination, surroundings));
    return EXIT.done;
  } catch (error) {
    await opened.discard().catch(() => undefined);
    throw error;
  }
}

async function gatherAsUser(asked: Asked, surroundings: GatherSurroundings): Promise<number> {
  const { XDG_RUNTIME_DIR: refuge } = surroundings.environment;
  const { self, signal } = surroundings;
  const options = openOptions(asked, surroundings, { owner: undefined, refuge, signal });
  const written = await gatherThroughSudo(asked.args, asked.destination, { ...options, self });
  if (written !== undefined) tellPlace(written, wordsOf(asked.destination, surroundings));
  return EXIT.done;
}

function openOptions(
  { args, settings, encrypter }: Asked,
  { paths, stdout }: GatherSurroundings,
  rest: Pick<OpenOptions, 'owner' | 'refuge' | 'signal'>,
): OpenOptions {
  return { id: args.id, paths, settings, stdout, encrypter, ...rest };
}

async function hostOf(
  { entrance, sinceMs }: GatherArguments,
  settings: Settings,
  { unpacked }: Workplace,
  paths: HostPaths,
): Promise<GatherHost> {
  const stage = await stageOf(paths);
  const own = stage === 'live' ? 'bootstrap' : 'control-plane/master';
  return {
    paths,
    settings,
    stage,
    folder: entrance === 'installer-masters-gather.sh' ? '' : own,
    work: unpacked,
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
}

/** Stops when the caller exits, if requested. */
function stopLimit(
  { stopsWithInput }: GatherArguments,
  { stdin, signal }: GatherSurroundings,
): Limit {
  const limit = new Limit([signal]);
  if (stopsWithInput) {
    const end = () => limit.abort(new Error('interrupted by its caller'));
    stdin.once('end', end).once('error', end).resume();
  }
  return limit;
}

async function list(
  args: GatherArguments,
  groups: readonly SourceGroup[],
  settings: Settings,
  { paths, environment, stdout, signal }: GatherSurroundings,
): Promise<number> {
  await using workplace = await openWorkplace(workCandidates(paths, environment), settings);
  const host = await hostOf(args, settings, workplace, paths);
  using limit = new Limit([signal], timeOf('the list', settings.gatherDiagnosisMs));
  for (const [name, parts] of byName(groups)) {
    const { sources, failures } = await listSources(parts, host, limit.signal);
    stdout.write(`${name}\n`);
    for (const { path, phase, deadlineMs } of sources) {
      stdout.write(`  ${inOneLine(path)} (${phase}, ${deadlineMs / 1000} s)\n`);
    }
    for (const { failure = '' } of failures) stdout.write(`  failed: ${inOneLine(failure)}\n`);
  }
  return EXIT.done;
}

/** A group name may occur several times in the collection order, such as journals. */
const byName = (groups: readonly SourceGroup[]) => Map.groupBy(groups, ({ name }) => name);

/** Messages never go to the stream that the archive is written to. */
const wordsOf = ({ kind }: Destination, { stdout, stderr }: GatherSurroundings): Writable =>
  kind === 'stream' ? stderr : stdout;
