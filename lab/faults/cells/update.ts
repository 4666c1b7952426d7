import { appendFile, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { updatePlan } from '../../../agents/upkeep/update/plan.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { run as runProgram } from '../../../lib/host/command.ts';
import { exists, sha256OfFile } from '../../../lib/host/files.ts';
import { defaultSettings, type Settings } from '../../../lib/host/settings.ts';
import type { AllInOne } from '../../all-in-one.ts';
import { type Component, ensureComponent } from '../../components/component.ts';
import { cli, executable } from '../../paths.ts';
import { laterPayload, payload } from '../../payload.ts';
import { type PlanUnderTest, request } from './plan.ts';

const CREATE_MS = 3 * 60_000;
export const EXECUTABLE = 'var/lib/sno-agents/bin/sno-agents';

interface Update {
  readonly url: string;
  /** Of its executable. */
  readonly sha256: string;
}

/** Another executable of the same version: a program does not read what is behind its end. */
export async function createUpdate(run: AllInOne, of: Component): Promise<Update> {
  const { folder, signal } = run.context;
  const limits = { signal, deadlineMs: CREATE_MS };
  const key = join(folder, 'update-key');
  if (!(await exists(key))) {
    await runProgram('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key], limits);
  }
  const name = `update-${Date.now()}`;
  const later = join(folder, 'later-sno-agents');
  await copyFile(executable, later);
  await appendFile(later, `${name}\n`);
  const from = await ensureComponent(of, { signal, report: () => undefined });
  const parts = ['--payload', from, '--agents-executable', later, '--key', key];
  const target = join(run.served.folder, 'update');
  await rm(target, { recursive: true, force: true });
  await runProgram(cli, ['create', 'update', '--dir', target, ...parts], limits);
  await trust(run, `${key}.pub`);
  return { url: `${run.served.url}/update`, sha256: await sha256OfFile(later, signal) };
}

/** As an administrator does, as root. */
async function trust(run: AllInOne, publicKey: string): Promise<void> {
  const signers = join(run.booted.rootDir, 'etc/sno-agents/allowed_signers');
  await mkdir(dirname(signers), { recursive: true });
  const key = await readFile(publicKey, 'utf8');
  await writeFile(signers, `sno-update namespaces="sno-agents-update" ${key}`, { mode: 0o600 });
}

const updateTo = (of: Component, settings: Partial<Settings>): PlanUnderTest => ({
  agent: 'sno-update',
  steps: updatePlan(defaultSettings).steps,
  settings: { updateWindowMs: 3_000, retryMs: 500, ...settings },
  async prepare(run) {
    const { signal } = run.context;
    const { url, sha256 } = await createUpdate(run, of);
    const update = ['sno-update', 'run', '--from', url, '--no-wait'];
    return {
      start: () => request(run.booted, 'sno-update', update, signal),
      proof: async () => {
        const found = await sha256OfFile(join(run.booted.rootDir, EXECUTABLE), signal);
        if (found === sha256) return;
        throw new Failure('fatal', 'another executable is in use', { expected: sha256, found });
      },
    };
  },
});

/** Of the executable only: the control plane goes on. */
export const update = updateTo(payload, { updateSettleMs: 120_000 });
/** With the deadline until which a wrong clock is waited for: the process keeps the one that it has. */
export const updateOnTime = updateTo(payload, { updateSettleMs: 120_000, updateStageMs: 60_000 });
/** Of the payload too, whose scheduler is another one. */
export const updateAll = updateTo(laterPayload, { updateSettleMs: 300_000 });
