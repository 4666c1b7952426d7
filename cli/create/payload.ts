import { resolve } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { acceptedVersions } from '../payload/accept.ts';
import { payloadFaults } from '../payload/check.ts';
import { fillPayload } from '../payload/fill.ts';
import { versionFaults } from '../payload/measured.ts';
import { readParts } from '../payload/parts.ts';
import { type PayloadPlan, planPayload } from '../payload/plan.ts';
import { type CreatePayloadOptions, readPayloadRequest } from '../payload/request.ts';
import { payloadTable } from '../payload/table.ts';
import type { Surroundings } from '../surroundings.ts';
import { expectFree, makeNewFolder, refuse } from './new-folder.ts';

/**
 * `sno create payload`: a payload folder from image archives and programs. It is
 * built beside its final path, verified there, and appears atomically; an existing
 * one is not changed. @throws Failure (usage) with every fault of the command line
 * and of the files
 */
export async function createPayload(
  options: CreatePayloadOptions,
  { print, signal }: Pick<Surroundings, 'print' | 'signal'>,
): Promise<void> {
  const target = resolve(options.dir);
  const faults: string[] = [];
  await expectFree(target, faults);
  const request = await readPayloadRequest(options, faults);
  const parts = await readParts(request, faults, signal);
  const plan = planPayload(request, parts, faults);
  refuse(faults);
  if (plan === undefined) return;
  const notices = acceptedVersions('the payload', plan.versions, 'run', options);
  const lines = await makeNewFolder(target, (staging) => makePayload(staging, plan, signal));
  print(`Wrote ${options.dir}`);
  for (const line of lines) print(line);
  for (const notice of [...notices, ...plan.notices]) print(`Notice: ${notice}`);
}

/** Returns the lines to print about it. */
async function makePayload(
  folder: string,
  plan: PayloadPlan,
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
  return payloadTable(payload, signal);
}
