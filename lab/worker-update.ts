import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { kubectl } from './checks/kubectl.ts';
import { podsReachEachOther } from './checks/pod-routes.ts';
import { eventually } from './eventually.ts';
import type { Host } from './host/host.ts';
import { waitForStep } from './host/wait-for-step.ts';
import type { LabContext } from './scenario.ts';
import { DOMAIN } from './site.ts';
import { SETTINGS, type Updates, wentBack } from './updates.ts';
import type { Workers } from './workers.ts';

const BACK_MS = 10 * 60_000;
const NEVER_SETTLES = { updateWindowMs: 86_400_000 };

/** Updates of a worker beside those of its control-plane host. */
export class WorkerUpdates {
  readonly #run: Workers;
  readonly #context: LabContext;
  readonly #updates: Updates;

  constructor(run: Workers, context: LabContext, updates: Updates) {
    this.#run = run;
    this.#context = context;
    this.#updates = updates;
  }

  trustKey = (): Promise<void> => this.#updates.trustKey(this.#run.worker);

  /** A kubelet must not be newer than its API server. */
  async refusedBeforeItsHost(name: string): Promise<void> {
    const { exitCode, stderr } = await this.#updates.run(this.#run.worker, name);
    if (exitCode === 2 && /newer than the API server/.test(stderr)) return;
    throw new Failure('fatal', 'the worker goes before its host', {
      expected: 'exit code 2, since its kubelet would be newer than the API server',
      found: `${exitCode}: ${stderr}`,
    });
  }

  /** Its power is cut twice while it has not settled: then it goes back to this version of the kubelet by itself. */
  async comesBack(name: string, kubelet: string): Promise<void> {
    const { signal } = this.#context;
    await this.#set(NEVER_SETTLES);
    const before = await this.#workload();
    const { exitCode, stderr } = await this.#updates.run(this.#run.worker, name, '--no-wait');
    if (exitCode !== 0) throw new Failure('fatal', 'the update did not begin', { found: stderr });
    for (const label of ['worker-cut', 'worker-cut-again']) {
      const since = new Date().toISOString();
      await waitForStep(this.#run.worker, 'sno-update', ['settle', 'started'], signal, since);
      await this.#run.worker.powerCut();
      await this.#run.rebootWorker(label);
    }
    await wentBack(this.#run.worker, signal);
    await this.#runs(kubelet);
    await this.#statusSays(/ was taken back/);
    await podsReachEachOther(this.#run.cluster, signal);
    if ((await this.#workload()) !== before) {
      throw new Failure('fatal', 'the workload was replaced', { expected: before });
    }
  }

  async settles(name: string, kubelet: string): Promise<void> {
    const { signal } = this.#context;
    await this.#set(SETTINGS);
    const before = await this.#workload();
    const { exitCode, stdout, stderr } = await this.#updates.run(this.#run.worker, name);
    if (exitCode !== 0) {
      throw new Failure('fatal', 'the update of the worker failed', { found: stderr || stdout });
    }
    if (!/^"kubectl drain worker-0/m.test(stdout)) {
      throw new Failure('fatal', 'nobody is told to drain the node', { found: stdout });
    }
    await this.#runs(kubelet);
    await this.#statusSays(/ is in use/);
    await podsReachEachOther(this.#run.cluster, signal);
    const after = await this.#workload();
    if (after !== before) {
      throw new Failure('fatal', 'the workload was restarted', { expected: before, found: after });
    }
  }

  /** Its Node says so, by a kubelet that runs now. */
  async #runs(kubelet: string): Promise<void> {
    const path = 'jsonpath={.status.nodeInfo.kubeletVersion}';
    const node = `worker-0.${DOMAIN}`;
    await eventually(
      async () => {
        const args = ['get', 'node', node, '-o', path];
        const found = await kubectl(this.#run.cluster, args, this.#context.signal);
        if (found === kubelet) return;
        throw new Failure('retry', 'another kubelet runs', { expected: kubelet, found });
      },
      BACK_MS,
      this.#context.signal,
    );
    const ready = ['wait', `node/${node}`, '--for=condition=Ready', '--timeout=55s'];
    await kubectl(this.#run.cluster, ready, this.#context.signal);
  }

  /** The pod on the worker. */
  #workload(): Promise<string> {
    const path = 'jsonpath={.items[*].metadata.uid}';
    const args = ['get', 'pods', '-l', 'app=on-worker', '-o', path];
    return kubectl(this.#run.cluster, args, this.#context.signal);
  }

  /** After a restart, its unit comes last. */
  async #statusSays(sentence: RegExp): Promise<void> {
    const { signal } = this.#context;
    const host: Host = this.#run.worker;
    await eventually(
      async () => {
        const { stdout } = await host.exec(['sno-update', 'status'], { timeoutMs: 20_000 }, signal);
        if (sentence.test(stdout)) return;
        throw new Failure('retry', 'its status says otherwise', {
          expected: `${sentence}`,
          found: stdout,
        });
      },
      BACK_MS,
      signal,
    );
  }

  #set(settings: object): Promise<void> {
    const path = join(this.#run.worker.rootDir, 'etc/sno-agents/settings.json');
    return writeFile(path, JSON.stringify(settings));
  }
}
