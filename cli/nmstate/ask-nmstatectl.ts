import { Failure } from '../../lib/base/errors/failure.ts';
import { isRecord } from '../../lib/base/json.ts';
import { printable } from '../../lib/base/printable.ts';
import { readDocument } from '../../lib/config/file/document.ts';
import { nmstateText } from '../../lib/config/site/nmstate/text.ts';
import { isInPath } from '../iso/programs.ts';
import { runProgram } from '../process/program.ts';
import { offlineDocument } from './offline-document.ts';

const PROGRAM = 'nmstatectl';
/** It reads one document and asks nobody. */
const DEADLINE_MS = 30_000;
const REFUSAL =
  /^NmstateError: (InvalidArgument|NotSupported|NotImplemented)|is not valid NetworkState/;
const LONGEST_ANSWER = 400;

/**
 * Asks the laptop's own `nmstatectl gc` about a network, where there is one; it writes nothing.
 *
 * @param networkConfig an nmstate document (YAML) without faults of its own
 * @param field where the user has written it
 * @throws Failure (usage) with its answer
 */
export async function askNmstatectl(
  networkConfig: string | undefined,
  field: string,
  signal: AbortSignal,
): Promise<void> {
  const document = networkConfig === undefined ? undefined : readDocument(networkConfig).value;
  if (!isRecord(document) || !(await isInPath(PROGRAM, process.env.PATH ?? ''))) return;
  const input = nmstateText(offlineDocument(document));
  const options = { signal, deadlineMs: DEADLINE_MS };
  const { ending, stderr } = await runProgram(PROGRAM, ['-q', 'gc', '-'], { ...options, input });
  const answer = stderr.split('\n').at(-1) ?? '';
  // Any other ending says nothing of the document: most machines have no such program, or an early version.
  if (ending !== 'exit code 1' || !REFUSAL.test(answer)) return;
  const version = await runProgram(PROGRAM, ['--version'], options);
  const name = version.stdout.toString('utf8').trim().split('\n')[0] || PROGRAM;
  throw new Failure('usage', `${field} is refused by nmstatectl; nothing was written`, {
    expected: `a network that ${printable(name)}, which this machine has, accepts`,
    found: printable(answer.slice(0, LONGEST_ANSWER)),
    fix: 'Correct it; if the nmstate of the host is newer, install that version on this machine.',
  });
}
