import { chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Failure } from '../../lib/errors/failure.ts';
import { exists, isMissing, syncDirectory } from '../../lib/host/files.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { plural } from '../../report/reading/words.ts';
import { payloadFaults } from '../payload/check.ts';
import { fillPayload } from '../payload/fill.ts';
import { readParts } from '../payload/parts.ts';
import { type PayloadPlan, planPayload } from '../payload/plan.ts';
import { type CreatePayloadOptions, readRequest } from '../payload/request.ts';
import { payloadTable } from '../payload/table.ts';
import type { Surroundings } from '../surroundings.ts';

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
  const request = await readRequest(options, faults);
  const parts = await readParts(request, faults, signal);
  const plan = planPayload(request, parts, faults);
  refuse(faults);
  if (plan === undefined) return;
  const staging = await mkdtemp(join(dirname(target), `.${basename(target)}.`));
  try {
    const lines = await makePayload(staging, plan, signal);
    await appear(staging, target);
    print(`Wrote ${options.dir}`);
    for (const line of lines) print(line);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  for (const notice of plan.notices) print(`Notice: ${notice}`);
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
  const wrong = await payloadFaults(payload, signal);
  if (wrong.length > 0) {
    throw new Failure('fatal', `The new payload is damaged: ${wrong.join('; ')}`, {
      fix: 'Check the disk, and whether the source files were changed in the meantime.',
    });
  }
  return payloadTable(payload, signal);
}

/** An empty folder is permitted. */
async function expectFree(target: string, faults: string[]): Promise<void> {
  if (!(await exists(dirname(target)))) {
    faults.push(`--dir ${target}: the folder ${dirname(target)} does not exist`);
    return;
  }
  try {
    if ((await readdir(target)).length === 0) return;
  } catch (error) {
    if (isMissing(error) && !(await exists(target))) return;
  }
  faults.push(`--dir ${target}: already exists. Move it away, or use another folder`);
}

/** A rename replaces an empty folder and nothing else. */
async function appear(staging: string, target: string): Promise<void> {
  await chmod(staging, 0o755);
  await rename(staging, target);
  await syncDirectory(dirname(target));
}

function refuse(faults: readonly string[]): void {
  if (faults.length === 0) return;
  const head = `${plural(faults.length, 'error')}; nothing was written`;
  throw new Failure('usage', [head, ...faults].join('\n'));
}
