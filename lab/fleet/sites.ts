import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { run } from '../../lib/host/command.ts';
import { createAuthority, issueLeaf } from '../certificates/signed-now.ts';
import { eventually } from '../eventually.ts';
import { serveFiles } from '../host/http-server.ts';
import { SITE } from '../host/network.ts';
import { cli, repository } from '../paths.ts';
import type { Hub } from './hub.ts';
import { WORKER_IMAGE } from './worker-image.ts';

export const NAMESPACE = 'sno-fleet';
const CLAIM = 'sno-fleet-volumes';
const WAVE = 'sno-fleet-1';
const COPY_POD = 'sno-fleet-copy';
const COPY_MS = 5 * 60_000;
const SNO_MS = 120_000;
const JOB_MS = 5 * 60_000;
const { bridge: LAB } = SITE.segments.IPv4;
/** Where nodes find what the Jobs publish; and BMCs, which speak HTTPS. */
const PORT = 8090;
const MEDIA_PORT = 8093;
export const MEDIA = { nodes: `http://${LAB}:${PORT}`, bmcs: `https://${LAB}:${MEDIA_PORT}` };

/** What a template has where the cell of a column belongs. */
export const cellOf = (column: string): string => `\${${column}}`;

/** How a Job has ended; indexes as Kubernetes writes them, such as `0,2-4`. */
interface EndedJob {
  readonly name: string;
  readonly type: 'Complete' | 'Failed';
  readonly completed: string;
  readonly failed: string;
}

/** What a person does at a hub with its Sites, all of one wave, by kubectl and `sno fleet`. */
export class Sites {
  readonly #hub: Hub;
  readonly #folder: string;
  #isServed = false;

  /** @param folder exists; files for kubectl */
  constructor(hub: Hub, folder: string) {
    this.#hub = hub;
    this.#folder = folder;
  }

  /** What a hub has before its first wave, by the files that the product ships; its web server is the lab's. */
  async prepareHub(storage: string): Promise<void> {
    await this.#hub.kubectl('apply', '--server-side', '-k', join(repository, 'deploy/fleet'));
    await this.apply('claim', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: CLAIM, namespace: NAMESPACE },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
  }

  readonly kubectl = (...args: readonly string[]): Promise<string> =>
    this.#hub.kubectl('--namespace', NAMESPACE, ...args);

  /** At this hub. */
  status(): Promise<string> {
    const at = ['--kubeconfig', this.#hub.kubeconfig, '--namespace', NAMESPACE];
    return this.#sno('status', ...at);
  }

  readonly apply = (name: string, object: object): Promise<void> =>
    this.#applyText(name, JSON.stringify(object));

  /** @param args of `sno fleet import` */
  async import(...args: readonly string[]): Promise<void> {
    const objects = await this.#sno('import', '--namespace', NAMESPACE, ...args);
    await this.#applyText('sites', objects);
  }

  async change(site: string, spec: object): Promise<void> {
    const patch = ['--type=merge', '--patch', JSON.stringify({ spec })];
    await this.kubectl('patch', 'site', site, ...patch);
  }

  /** The Jobs of the wave; the hub runs the first one, until it is complete. @param args of `sno fleet jobs` */
  async deliver(count: number, ...args: readonly string[]): Promise<void> {
    const jobs = await this.#sno(
      ...['jobs', '--selector', 'wave=1', '--namespace', NAMESPACE, '--count', `${count}`],
      ...['--image', WORKER_IMAGE, '--canaries', '0', '--publish-url', MEDIA.bmcs, ...args],
    );
    await this.kubectl('delete', 'job', '--all', '--ignore-not-found');
    await this.#applyText('jobs', jobs);
    await this.#expectAll(await this.#jobEnds(WAVE));
    await this.#serve();
  }

  /** The last Job of the wave. @param failed the indexes that are to fail, empty for none */
  async collect(failed = ''): Promise<void> {
    const name = `${WAVE}-collect`;
    const resume = JSON.stringify({ spec: { suspend: false } });
    await this.kubectl('patch', 'job', name, '--type=merge', '--patch', resume);
    const ended = await this.#jobEnds(name);
    if (failed === '') return this.#expectAll(ended);
    if (ended.type === 'Failed' && ended.failed === failed) return;
    throw await this.#unexpected(ended, `failed indexes ${failed}`);
  }

  /** A file gets into the claim by the pod that the product ships for that. */
  async copyIn(file: string): Promise<void> {
    const hub = this.#hub;
    const text = await readFile(join(repository, 'deploy/fleet/copy-pod.yaml'), 'utf8');
    await this.#applyText('copy-pod', text.replace('registry.example.com/sno', WORKER_IMAGE));
    const ready = ['wait', `pod/${COPY_POD}`, '--for=condition=Ready', '--timeout=10s'];
    await eventually(() => this.kubectl(...ready), COPY_MS, hub.context.signal);
    const at = ['--kubeconfig', hub.kubeconfig, '--namespace', NAMESPACE];
    const copy = ['cp', file, `${COPY_POD}:/srv/sites/${basename(file)}`];
    const limits = { signal: hub.context.signal, deadlineMs: COPY_MS };
    await run(join(hub.cluster.kubernetes, 'kubectl'), [...at, ...copy], limits);
    await this.kubectl('delete', 'pod', COPY_POD);
  }

  /** The folder of the claim, on the disk of the hub: once a pod has used it. */
  async published(): Promise<string> {
    const claim = await this.kubectl('get', 'pvc', CLAIM, '--output=jsonpath={.spec.volumeName}');
    const paths = '{.spec.hostPath.path}{.spec.local.path}';
    const path = await this.#hub.kubectl('get', 'pv', claim.trim(), `--output=jsonpath=${paths}`);
    return join(this.#hub.booted.rootDir, path.trim());
  }

  /** Until a condition of a Site has this status; returns its reason. */
  reported(site: string, type: string, status: string, deadlineMs: number): Promise<string> {
    const look = () => this.expect(site, type, status);
    return eventually(look, deadlineMs, this.#hub.context.signal);
  }

  /** The reason of a condition. @throws Failure (retry) if it has another status */
  async expect(site: string, type: string, status: string): Promise<string> {
    const path = `{.status.conditions[?(@.type=="${type}")]['status','reason']}`;
    const text = await this.kubectl('get', 'site', site, `--output=jsonpath=${path}`);
    const [found = '', reason = ''] = text.split(' ');
    if (found === status) return reason;
    throw new Failure('retry', `the condition ${type} of the Site ${site} is another one`, {
      expected: status,
      found: `${found} ${reason}`,
    });
  }

  /** The ISO that the hub has published for a Site. */
  async volume(site: string): Promise<string> {
    const path = '--output=jsonpath={.status.volume.url}';
    const url = await this.kubectl('get', 'site', site, path);
    return join(await this.published(), basename(new URL(url).pathname));
  }

  /** As Hive would have it: the kubeconfig of a node, and what else is in its Secret. */
  async administrator(site: string): Promise<Record<string, string>> {
    const label = 'hive.openshift.io/secret-type=kubeconfig';
    const get = ['get', 'secret', '--selector', `${label},fleet.sno-agents.io/site=${site}`];
    const text = await this.kubectl(...get, '--output=jsonpath={.items[*].data}');
    const data: Record<string, string> = JSON.parse(text);
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  }

  /** What the Jobs have written to the claim. */
  async #serve(): Promise<void> {
    if (this.#isServed) return;
    this.#isServed = true;
    const { teardown } = this.#hub.context;
    const folder = await this.published();
    await serveFiles(folder, PORT, teardown, { address: LAB });
    const profile = { subject: { commonName: LAB }, usage: 'server', ipAddresses: [LAB] } as const;
    const tls = await issueLeaf(await createAuthority('media'), profile);
    await serveFiles(folder, MEDIA_PORT, teardown, { address: LAB, tls });
  }

  async #expectAll(ended: EndedJob): Promise<void> {
    if (ended.type !== 'Complete') throw await this.#unexpected(ended, 'no failed index');
  }

  /** With what its pods said. */
  async #unexpected(
    { name, type, completed, failed }: EndedJob,
    expected: string,
  ): Promise<Failure> {
    const logs = await this.kubectl('logs', `--selector=job-name=${name}`);
    return new Failure('fatal', `the Job ${name} has not ended as it should`, {
      expected,
      found: `${type}, completed ${completed}, failed ${failed}: ${logs}`,
    });
  }

  async #jobEnds(name: string): Promise<EndedJob> {
    const fields = '{.status.completedIndexes};{.status.failedIndexes}';
    const path = `{.status.conditions[?(@.status=="True")].type};${fields}`;
    const ended = async () => {
      const found = await this.kubectl('get', 'job', name, `--output=jsonpath=${path}`);
      const [types = '', completed = '', failed = ''] = found.split(';');
      const type = (['Complete', 'Failed'] as const).find((each) =>
        types.split(' ').includes(each),
      );
      if (type !== undefined) return { name, type, completed, failed };
      throw new Failure('retry', `the Job ${name} has not ended`, { found });
    };
    return eventually(ended, JOB_MS, this.#hub.context.signal);
  }

  #sno(...args: readonly string[]): Promise<string> {
    const { signal } = this.#hub.context;
    return run(cli, ['fleet', ...args], { signal, deadlineMs: SNO_MS });
  }

  async #applyText(name: string, text: string): Promise<void> {
    const file = join(this.#folder, `${name}.yaml`);
    await writeFile(file, text, { mode: 0o600 });
    await this.#hub.kubectl('apply', '--server-side', '--filename', file);
  }
}
