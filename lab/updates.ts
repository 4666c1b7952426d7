import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { parseJson } from '../lib/base/json.ts';
import { holds, waitUntil } from '../lib/base/wait/wait-until.ts';
import { readJournal } from '../lib/engine/steps/journal.ts';
import { endedSchema } from '../lib/engine/trial/trial.ts';
import { run } from '../lib/host/command.ts';
import { sha256OfFile } from '../lib/host/files.ts';
import type { AllInOne } from './all-in-one.ts';
import { kubectl } from './checks/kubectl.ts';
import { steady } from './checks/steady.ts';
import { type Component, ensureComponent } from './components/component.ts';
import type { Host } from './host/host.ts';
import { stepJournal } from './host/wait-for-step.ts';
import { cli, executable } from './paths.ts';
import { brokenPayload, LATER_SCHEDULER, laterPayload } from './payload.ts';
import type { LabContext, ScenarioStep } from './scenario.ts';

const CREATE_MS = 3 * 60_000;
const UPDATE_MS = 20 * 60_000;
const BACK_MS = 15 * 60_000;
const LOOK_EVERY_MS = 200;

/** Shorter than on a real host, where nobody waits for them. */
export const SETTINGS = { updateWindowMs: 10_000 };

/** Of a static pod, by its component. */
type Images = Readonly<Record<string, string>>;

/** What a revert has to bring back to the byte. */
const COMPARED = [
  'var/lib/sno-agents/bin/sno-agents',
  'var/lib/sno-agents/payload/payload.yaml',
  'etc/sno-agents/cluster.json',
  'etc/sno-agents/render-input.json',
  'etc/sno-agents/executable.sha256',
  'etc/sno-agents/payload.sha256',
  'etc/kubernetes/manifests/kube-scheduler.yaml',
  'etc/kubernetes/manifests/kube-apiserver.yaml',
  'etc/kubernetes/kubelet.yaml',
];

/** The name of each update in the folder that is served, and its payload. */
type UpdatePayloads = Readonly<Record<string, Component>>;

/** Updates of a running all-in-one host, served at its site and signed with a key of the administrator. */
export class Updates {
  readonly #run: AllInOne;
  readonly #context: LabContext;
  readonly #payloads: UpdatePayloads;
  #before: Readonly<Record<string, string>> = {};

  constructor(run: AllInOne, context: LabContext, payloads: UpdatePayloads) {
    this.#run = run;
    this.#context = context;
    this.#payloads = payloads;
  }

  get #key(): string {
    return join(this.#context.folder, 'update-key');
  }

  async create(): Promise<void> {
    const { folder, signal } = this.#context;
    const limits = { signal, deadlineMs: CREATE_MS };
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', this.#key], limits);
    // Another executable of the same version: a program does not read what is behind its end.
    const later = join(folder, 'later-sno-agents');
    await copyFile(executable, later);
    await appendFile(later, 'another build\n');
    for (const [name, component] of Object.entries(this.#payloads)) {
      const payload = await ensureComponent(component, { signal, report: () => undefined });
      const parts = ['--payload', payload, '--agents-executable', later, '--key', this.#key];
      const target = join(this.#run.served.folder, name);
      await run(cli, ['create', 'update', '--dir', target, ...parts], limits);
      await run(cli, ['verify', 'update', target, '--ssh-key', `${this.#key}.pub`], limits);
    }
  }

  /** With exit code 2 and this sentence; the host goes on as it is. */
  async refused(name: string, sentence: RegExp): Promise<void> {
    const { exitCode, stderr } = await this.#update(name);
    if (exitCode === 2 && sentence.test(stderr)) return;
    throw new Failure('fatal', `the update ${name} was not refused`, {
      expected: `exit code 2 and ${sentence}`,
      found: `${exitCode}: ${stderr}`,
    });
  }

  /** As an administrator does, as root. */
  async trustKey({ rootDir } = this.#run.booted): Promise<void> {
    const key = await readFile(`${this.#key}.pub`, 'utf8');
    const signers = join(rootDir, 'etc/sno-agents/allowed_signers');
    await writeFile(signers, `sno-update namespaces="sno-agents-update" ${key}`, { mode: 0o600 });
    const settings = join(rootDir, 'etc/sno-agents/settings.json');
    await writeFile(settings, JSON.stringify(SETTINGS));
  }

  /** Then these images run. */
  async settles(name: string, images: Images): Promise<void> {
    const { exitCode, stdout, stderr } = await this.#update(name);
    if (exitCode !== 0) {
      throw new Failure('fatal', `the update ${name} failed`, { found: stderr || stdout });
    }
    await this.#requireImages(images);
    await this.#requireNothingOnTrial();
    await steady.run(this.#run.cluster, this.#context.signal);
  }

  /** `onTrial` runs on the updated host before the first cut. */
  async cutTwice(name: string, onTrial = async () => undefined as unknown): Promise<void> {
    this.#before = await contentsOf(this.#run.booted);
    const begun = await this.#settleAttempts();
    const { exitCode, stderr } = await this.#update(name, '--no-wait');
    if (exitCode !== 0) throw new Failure('fatal', 'the update did not begin', { found: stderr });
    await this.#settleBegins(begun + 1);
    await onTrial();
    await this.#run.booted.powerCut();
    this.#run.host = undefined;
    await this.#run.bootUntilPowerCut('after-first-cut', () => this.#settleBegins(begun + 2));
  }

  /** To these images, by itself. */
  async comesBack(images: Images): Promise<void> {
    const { signal } = this.#context;
    const host = await this.#run.bootInstalled('after-second-cut');
    await wentBack(host, signal);
    const after = await contentsOf(host);
    const different = COMPARED.filter((path) => after[path] !== this.#before[path]);
    if (different.length > 0) {
      throw new Failure('fatal', 'files are not as before', { found: different.join(', ') });
    }
    await until(BACK_MS, signal, 'the host to be steady', () =>
      steady.run(this.#run.cluster, signal).then(
        () => true,
        () => false,
      ),
    );
    await until(BACK_MS, signal, 'a restore of the database to end', async () => {
      const show = ['systemctl', 'show', '--property=ActiveState', '--value'];
      const asked = [...show, 'sno-backup-restore.service'];
      return (await host.exec(asked, { timeoutMs: 20_000 }, signal)).stdout.trim() === 'inactive';
    });
    await this.#requireImages(images);
    await this.#requireNothingOnTrial();
    const { stdout } = await host.exec(['sno-update', 'status'], { timeoutMs: 20_000 }, signal);
    if (!/ was taken back/.test(stdout)) {
      throw new Failure('fatal', 'its status does not say that it was taken back', {
        found: stdout,
      });
    }
  }

  /** The command of the administrator on a host. */
  run(host: Host, name: string, ...more: readonly string[]) {
    const from = `${this.#run.served.url}/${name}`;
    const command = ['sno-update', 'run', '--from', from, ...more];
    return host.exec(command, { timeoutMs: UPDATE_MS }, this.#context.signal);
  }

  #update(name: string, ...more: readonly string[]) {
    return this.run(this.#run.booted, name, ...more);
  }

  /** How often the step settle has begun on this host. */
  async #settleAttempts(): Promise<number> {
    const entries = await readJournal(stepJournal(this.#run.booted.rootDir, 'sno-update'));
    return entries.filter(({ step, event }) => step === 'settle' && event === 'started').length;
  }

  #settleBegins(count: number): Promise<void> {
    const what = `attempt ${count} to settle`;
    return until(UPDATE_MS, this.#context.signal, what, async () => {
      return (await this.#settleAttempts()) >= count;
    });
  }

  async #requireImages(images: Images): Promise<void> {
    for (const [component, expected] of Object.entries(images)) {
      const found = await kubectl(
        this.#run.cluster,
        [
          ...['get', 'pods', '-n', 'kube-system', '-l', `component=${component}`],
          ...['-o', 'jsonpath={.items[*].spec.containers[*].image}'],
        ],
        this.#context.signal,
      );
      if (found === expected) continue;
      throw new Failure('fatal', `another ${component} runs`, { expected, found });
    }
  }

  async #requireNothingOnTrial(): Promise<void> {
    const { signal } = this.#context;
    const { stdout } = await this.#run.booted.exec(
      ['sno-trial', 'status'],
      { timeoutMs: 20_000 },
      signal,
    );
    if (/^nothing is on trial$/m.test(stdout)) return;
    throw new Failure('fatal', 'something is still on trial', { found: stdout });
  }
}

async function contentsOf({ rootDir }: Host): Promise<Record<string, string>> {
  const signal = AbortSignal.timeout(60_000);
  const digests = COMPARED.map(async (path) => [
    path,
    await sha256OfFile(join(rootDir, path), signal),
  ]);
  return Object.fromEntries(await Promise.all(digests));
}

/** Waits until a host has taken a change back by itself. */
export async function wentBack({ rootDir }: Host, signal: AbortSignal): Promise<void> {
  const last = join(rootDir, 'var/lib/sno-agents/sno-trial/last.json');
  await until(BACK_MS, signal, 'the host to go back', async () => {
    const text = await readFile(last, 'utf8').catch(() => '');
    return endedSchema.safeParse(parseJson(text)).data?.outcome === 'reverted';
  });
}

async function until(
  deadlineMs: number,
  signal: AbortSignal,
  what: string,
  isSo: () => Promise<boolean>,
): Promise<void> {
  await waitUntil(holds(isSo, `waited in vain for ${what}`), {
    signal,
    deadlineMs,
    everyMs: LOOK_EVERY_MS,
    late: ({ state }) => new Failure('deadline', state),
  });
}

/** One patch that works, and one that does not. */
export const patches: UpdatePayloads = { later: laterPayload, broken: brokenPayload };
const patched: Images = { 'kube-scheduler': LATER_SCHEDULER };

/** A host with what it needs to be updated. */
export const updatesOf = (updates: Updates, first: string): readonly ScenarioStep[] => [
  { title: 'Create the updates', run: () => updates.create() },
  {
    title: 'An update of a stranger is refused',
    run: () => updates.refused(first, /not signed by an allowed key/),
  },
  { title: 'Trust the key of the administrator', run: () => updates.trustKey() },
];

export const updateThatSettles = (updates: Updates): readonly ScenarioStep[] => [
  ...updatesOf(updates, 'later'),
  { title: 'An update settles', run: () => updates.settles('later', patched) },
];

/** One that does not settle, on a host that loses its power twice. */
export const updateThatFails = (updates: Updates): readonly ScenarioStep[] => [
  { title: 'One does not settle, power cut twice', run: () => updates.cutTwice('broken') },
  { title: 'The host comes back by itself', run: () => updates.comesBack(patched) },
];
