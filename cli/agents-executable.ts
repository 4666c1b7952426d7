import { createReadStream } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { builtVersion } from '../lib/base/version.ts';
import { MARK, MAX_MARK_BYTES } from '../lib/engine/agents/executable-mark.ts';
import { type Architecture, hostArchitecture } from '../lib/host/architecture.ts';
import { sha256OfFile } from '../lib/host/files.ts';
import { requireRegularFile } from '../lib/host/given-file.ts';
import { readProgram } from '../lib/payload/elf/elf.ts';

/** Defined by the build: the digest of the sno-agents built together with this program. */
declare const __SNO_AGENTS_SHA256__: string | undefined;

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE = 'SNO_AGENTS_EXECUTABLE';
const FIX = `Set it with --agents-executable or in ${VARIABLE}.`;

export interface AgentsExecutable {
  /** SHA-256, hex. */
  sha256: string;
  architecture: Architecture;
}

/**
 * The sno-agents executable that the live medium must carry: `--agents-executable`,
 * else the one that SNO_AGENTS_EXECUTABLE names, else the one that this program was
 * built with, which need not be present.
 * @throws Failure (usage) for anything but sno-agents of this version.
 */
export async function describeExecutable(
  option: string | undefined,
  environment: Environment,
  signal: AbortSignal,
): Promise<AgentsExecutable> {
  const architecture = hostArchitecture();
  const named = namedExecutable(option, environment);
  const isBuiltIn = named === undefined && typeof __SNO_AGENTS_SHA256__ !== 'undefined';
  if (isBuiltIn && architecture !== undefined) {
    return { sha256: __SNO_AGENTS_SHA256__, architecture };
  }
  return readExecutable(executablePath(option, environment), signal);
}

/** Path of that executable: without an option or variable, beside this program if it is built. */
export function executablePath(option: string | undefined, environment: Environment): string {
  const named = namedExecutable(option, environment);
  if (named !== undefined) return resolve(named);
  if (typeof __SNO_AGENTS_SHA256__ !== 'undefined') {
    return join(dirname(process.execPath), 'sno-agents');
  }
  throw new Failure('usage', 'The sno-agents executable for the medium is not known', {
    fix: FIX,
  });
}

function namedExecutable(
  option: string | undefined,
  { [VARIABLE]: variable }: Environment,
): string | undefined {
  return option ?? (variable === '' ? undefined : variable);
}

/** @throws Failure (usage) for anything but a sno-agents executable of this version. */
export async function readExecutable(
  path: string,
  signal: AbortSignal,
): Promise<AgentsExecutable & { readonly version: string }> {
  await requireRegularFile(path, 'The sno-agents executable');
  const { architecture } = await readProgram(path, path);
  const version = await markedVersion(path, signal);
  if (version === undefined) {
    throw new Failure('usage', `${path} is not a sno-agents executable; nothing was written`, {
      expected: 'the sno-agents executable of the same release as this sno',
      found: 'another program',
      fix: FIX,
    });
  }
  if (builtVersion !== undefined && version !== builtVersion) {
    throw new Failure('usage', `${path} is from another release; nothing was written`, {
      expected: `sno-agents ${builtVersion}, as this sno`,
      found: `sno-agents ${version}`,
      fix: 'Use sno and sno-agents of the same release.',
    });
  }
  return { sha256: await sha256OfFile(path, signal), architecture, version };
}

/** The version in the mark of the build; undefined without a mark. */
async function markedVersion(path: string, signal: AbortSignal): Promise<string | undefined> {
  let rest = '';
  const file = createReadStream(path, { highWaterMark: 1 << 20, encoding: 'latin1', signal });
  for await (const chunk of file) {
    const text = rest + chunk;
    const [, version] = MARK.exec(text) ?? [];
    if (version !== undefined) return version;
    rest = text.slice(-MAX_MARK_BYTES);
  }
  return undefined;
}

/**
 * @throws Failure (usage) if the executable is not for the architecture that install-config.yaml names; it need not
 * name one
 */
export function requireConfigured(
  configured: Architecture | undefined,
  { architecture }: Pick<AgentsExecutable, 'architecture'>,
): void {
  if (configured === undefined || configured === architecture) return;
  throw new Failure(
    'usage',
    'The executable is for another architecture than the host; nothing was written',
    {
      expected: `sno-agents for ${configured}, as controlPlane.architecture of install-config.yaml`,
      found: `sno-agents for ${architecture}`,
      fix: `${FIX.slice(0, -1)}, from the release for linux-${configured}, or correct the field.`,
    },
  );
}

/** @throws Failure (usage) if the executable and the payload are for different architectures. */
export function requireSameArchitecture(
  executable: Pick<AgentsExecutable, 'architecture'>,
  payload: { architecture: Architecture; directory: string },
): void {
  if (executable.architecture === payload.architecture) return;
  throw new Failure(
    'usage',
    'The executable and the payload are for different architectures; nothing was written',
    {
      expected: `sno-agents for ${payload.architecture}, as the payload in ${payload.directory}`,
      found: `sno-agents for ${executable.architecture}`,
      fix: `${FIX.slice(0, -1)}, from the release for linux-${payload.architecture}.`,
    },
  );
}
