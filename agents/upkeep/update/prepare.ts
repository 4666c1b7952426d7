import { Failure } from '../../../lib/base/errors/failure.ts';
import { schemaFaults } from '../../../lib/base/errors/schema-faults.ts';
import { parseJson } from '../../../lib/base/json.ts';
import type { ChangeStep } from '../../../lib/change/or-back.ts';
import { type Prepared, preparedSchema } from '../../../lib/change/update/prepared.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { run } from '../../../lib/host/command.ts';
import { exists, readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import type { UpdatedHost } from './context.ts';
import { nextExecutable, nextPayload, preparedPath } from './places.ts';
import { isInUse } from './stage.ts';

/**
 * The self-test of the new executable: it starts on this host, says its version, reads the host's configuration
 * and computes what it changes. Nothing has changed until now.
 */
export const prepare: ChangeStep<UpdatedHost> = {
  name: 'prepare',
  leaves: 'the files that the new executable wants to have on this host',
  touches: ['disk'],
  neededUntil: 'switch',
  holds: async (context) => (await readPrepared(context)) !== undefined,
  async run(context, progress) {
    const { paths, request } = context;
    const { signal } = progress;
    const next = nextExecutable(paths);
    // The one in use, where only the payload is new.
    const executable = (await exists(next)) ? next : paths.executable;
    const limits = { signal, deadlineMs: progress.remainingMs() };
    const expected = request.manifest.executable.version;
    const version = (await run(executable, ['--version'], limits)).trim();
    if (version !== expected) {
      throw new Failure('fatal', 'the new executable is another one than its manifest says', {
        code: 'update-refused',
        expected,
        found: version,
      });
    }
    const payload = (await isInUse(context, signal)) ? paths.payload : nextPayload(paths);
    const args = ['sno-update', 'prepare', '--payload', payload, '--executable', executable];
    const text = await progress.wait('the new executable to read the configuration', () =>
      run(executable, args, limits),
    );
    const prepared = parsed(text);
    await writeFileAtomic(preparedPath(paths), `${JSON.stringify(prepared)}\n`, 0o600);
    const { files, manifests } = prepared;
    return done(`${files.length} files and ${manifests.length} add-ons change`);
  },
};

function parsed(text: string): Prepared {
  const { success, data, error } = preparedSchema.safeParse(parseJson(text));
  if (success) return data;
  throw new Failure('fatal', 'the new executable does not say what it changes', {
    code: 'update-refused',
    expected: 'JSON with schemaVersion 1',
    found: schemaFaults(error),
    fix: 'Nothing was changed. Update to a release between the two first.',
  });
}

/** Undefined before the step, and after the update. */
export async function readPrepared({
  paths,
}: Pick<UpdatedHost, 'paths'>): Promise<Prepared | undefined> {
  const text = await readTextIfPresent(preparedPath(paths));
  return preparedSchema.safeParse(parseJson(text ?? '')).data;
}

/** @throws Failure (fatal) if the step has not run */
export async function loadPrepared(context: Pick<UpdatedHost, 'paths'>): Promise<Prepared> {
  const prepared = await readPrepared(context);
  if (prepared !== undefined) return prepared;
  throw new Failure('fatal', `${preparedPath(context.paths)} cannot be used`, {
    expected: 'the files that the update changes',
  });
}
