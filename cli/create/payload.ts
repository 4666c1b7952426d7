import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exists, writeFileAtomic } from '../../lib/host/files.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { acceptedVersions } from '../payload/accept.ts';
import { payloadFaults } from '../payload/check.ts';
import { compressPayload } from '../payload/compress.ts';
import { fetchParts } from '../payload/fetch/fetch-parts.ts';
import { lockPathOf, lockText, type PayloadLock } from '../payload/fetch/lock.ts';
import {
  type FetchPayloadOptions,
  fetchOnlyOptions,
  isFetched,
  readFetchRequest,
} from '../payload/fetch/request.ts';
import { PartStore } from '../payload/fetch/store.ts';
import { fillPayload } from '../payload/fill.ts';
import { versionFaults } from '../payload/measured.ts';
import { readParts } from '../payload/parts.ts';
import { type PayloadPlan, planPayload } from '../payload/plan.ts';
import {
  type CreatePayloadOptions,
  givenOptions,
  type PayloadRequest,
  readPayloadRequest,
} from '../payload/request.ts';
import { payloadTable } from '../payload/table.ts';
import type { Surroundings } from '../surroundings.ts';
import { expectFree, makeNewFolder, refuse } from './new-folder.ts';

export type PayloadOptions = CreatePayloadOptions & FetchPayloadOptions;

type Reporting = Pick<Surroundings, 'print' | 'wrote' | 'notice' | 'complain' | 'signal'>;

/**
 * `sno create payload`: a payload folder from image archives and programs, which are given or fetched. It is
 * built beside its final path, verified there, and appears atomically; an existing
 * one is not changed. @throws Failure (usage) with every fault of the command line
 * and of the files
 */
export async function createPayload(options: PayloadOptions, reporting: Reporting): Promise<void> {
  if (isFetched(options)) return createFetched(options, reporting);
  const target = resolve(options.dir);
  const faults = fetchOnlyOptions(options).map(
    (option) => `${option}: only with --kubernetes or --lock, which fetch the parts`,
  );
  await expectFree(target, faults);
  if (givenOptions(options).length === 0) {
    faults.push(
      '--kubernetes is missing: with a version such as v1.37.2, it fetches all parts. Or give them as files: see "sno create payload --help"',
    );
    refuse(faults);
  }
  await createFrom(target, await readPayloadRequest(options, faults), faults, options, reporting);
}

/** Fetches the parts into a folder of their own, which a later run goes on with if this one fails. */
async function createFetched(options: PayloadOptions, reporting: Reporting): Promise<void> {
  const { signal, complain } = reporting;
  const target = resolve(options.dir);
  const lockPath = lockPathOf(target);
  const faults = givenOptions(options).map(
    (option) => `${option}: not with --kubernetes or --lock, which fetch all parts`,
  );
  await expectFree(target, faults);
  if (options.lock === undefined && (await exists(lockPath))) {
    faults.push(`${lockPath}: already exists. Move it away, or add --lock ${lockPath}`);
  }
  const request = readFetchRequest(options, faults);
  refuse(faults);
  const store = new PartStore(resolve(options.parts ?? `${target}.parts`));
  try {
    const fetched = await fetchParts(request, store, options, { signal, report: complain });
    const lock = options.lock === undefined ? { path: lockPath, lock: fetched.lock } : undefined;
    await createFrom(target, fetched.request, faults, options, reporting, lock);
  } catch (error) {
    if (await exists(store.folder)) {
      complain(
        `What was fetched is kept in ${store.folder}: the same command continues from there`,
      );
    }
    throw error;
  }
  if (options.parts === undefined) await rm(store.folder, { recursive: true });
}

async function createFrom(
  target: string,
  request: PayloadRequest,
  faults: string[],
  options: PayloadOptions,
  { print, wrote, notice, signal }: Reporting,
  locked?: { readonly path: string; readonly lock: PayloadLock },
): Promise<void> {
  const parts = await readParts(request, faults, signal);
  const plan = planPayload(request, parts, faults);
  refuse(faults);
  if (plan === undefined) return;
  const notices = acceptedVersions('the payload', plan.versions, 'run', options);
  const make = async (staging: string) => {
    const lines = await makePayload(staging, plan, options, signal);
    if (locked !== undefined) await writeFileAtomic(locked.path, lockText(locked.lock), 0o644);
    return lines;
  };
  const lines = await makeNewFolder(target, make).catch(async (error: unknown) => {
    if (locked !== undefined) await rm(locked.path, { force: true });
    throw error;
  });
  wrote(options.dir);
  if (locked !== undefined) wrote(locked.path, 'pins what it was made of');
  for (const line of lines) print(line);
  for (const text of [...notices, ...plan.notices]) notice(text);
}

/** Returns the lines to print about it. */
async function makePayload(
  folder: string,
  plan: PayloadPlan,
  { compress }: Pick<PayloadOptions, 'compress'>,
  signal: AbortSignal,
): Promise<string[]> {
  const faults: string[] = [];
  await fillPayload(folder, plan, faults, signal);
  refuse(faults);
  const payload = await readPayload(folder);
  refuse(await versionFaults(payload, signal));
  const wrong = await payloadFaults(payload, signal);
  if (wrong.length > 0) {
    throw new Failure('fatal', `The new payload is damaged: ${wrong.join('; ')}`, {
      fix: 'Check the disk, and whether the source files were changed in the meantime.',
    });
  }
  if (compress === true) await compressPayload(payload, signal);
  return payloadTable(await readPayload(folder), signal);
}
