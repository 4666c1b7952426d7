import { Failure } from '../../lib/base/errors/failure.ts';
import { runProgram } from '../process/program.ts';

const DEADLINE_MS = 10 * 60_000;

/** What coreos-installer reports about an ISO. */
export interface LiveIso {
  /**
   * The kernel arguments that it boots with; undefined for an ISO whose arguments
   * cannot be changed.
   */
  readonly kernelArguments: string | undefined;
}

/**
 * Inspects an ISO as coreos-installer does (its src/live/embed.rs): the Ignition
 * config's place is the file that /coreos/igninfo.json names, by default
 * /images/ignition.img, found by its plain ISO 9660 name in capitals.
 * @throws Failure (usage) for anything but a CoreOS live ISO, and for one that
 *   already has a config.
 */
export async function readLiveIso(iso: string, signal: AbortSignal): Promise<LiveIso> {
  const { text, complaint } = await coreosInstaller(['iso', 'ignition', 'show', '--', iso], signal);
  if (text !== undefined) {
    throw new Failure('usage', `${iso} already contains an Ignition config; nothing was written`, {
      expected: 'an unmodified live ISO',
      fix: 'Use one, or remove the config: coreos-installer iso ignition remove.',
    });
  }
  if (!complaint.includes('No embedded Ignition config')) {
    throw new Failure('usage', `${iso} is not a CoreOS live ISO; nothing was written`, {
      expected: 'a complete live ISO of Fedora CoreOS or RHEL CoreOS',
      found: complaint,
      fix: 'Download one: coreos-installer download --format iso.',
    });
  }
  return kernelArgumentsOf(iso, signal);
}

/** Writes the config, compressed, into its place on the ISO. */
export async function embedIgnition(
  iso: string,
  config: string,
  signal: AbortSignal,
): Promise<void> {
  const args = ['iso', 'ignition', 'embed', '--', iso];
  const { text, complaint } = await coreosInstaller(args, signal, config);
  if (text === undefined) throw notEmbedded(complaint);
}

/** Verifies that coreos-installer still finds the same ISO, except for the config. */
export async function verifyLiveIso(
  iso: string,
  expected: LiveIso & { readonly config: string },
  signal: AbortSignal,
): Promise<void> {
  const shown = await coreosInstaller(['iso', 'ignition', 'show', '--', iso], signal);
  if (shown.text !== expected.config) throw notEmbedded(shown.complaint || 'another config');
  requireSameArguments(await kernelArgumentsOf(iso, signal), expected);
}

const kernelArgumentsOf = async (iso: string, signal: AbortSignal): Promise<LiveIso> => ({
  kernelArguments: (await coreosInstaller(['iso', 'kargs', 'show', '--', iso], signal)).text,
});

/** @throws Failure (fatal) if an ISO that was written boots with other arguments than the one it was made of */
export function requireSameArguments(found: LiveIso, expected: LiveIso): void {
  if (found.kernelArguments === expected.kernelArguments) return;
  throw new Failure('fatal', 'The new ISO lost its kernel arguments; nothing was written', {
    expected: expected.kernelArguments ?? 'none that can be changed',
    found: found.kernelArguments ?? 'none',
    fix: 'Use a live ISO of a newer release.',
  });
}

function notEmbedded(found: string): Failure {
  return new Failure('fatal', 'The Ignition config is not in the new ISO; nothing was written', {
    found,
  });
}

/** Returns the output in `text` on success, else the error in `complaint`, without secrets. */
async function coreosInstaller(
  args: readonly string[],
  signal: AbortSignal,
  input?: string,
): Promise<{ text: string | undefined; complaint: string }> {
  const { ok, stdout, stderr } = await runProgram('coreos-installer', args, {
    ...(input === undefined ? {} : { input }),
    env: { RUST_BACKTRACE: '0' },
    deadlineMs: DEADLINE_MS,
    signal,
  });
  const complaint = stderr.replace(/\s*\n\s*/g, ' ');
  return { text: ok ? stdout.toString('utf8') : undefined, complaint };
}
