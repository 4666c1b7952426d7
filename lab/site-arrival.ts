import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../lib/errors/failure.ts';
import { failureDataSchema, failureSentence } from '../lib/errors/failure-data.ts';
import { run } from '../lib/host/command.ts';
import { readTextIfPresent } from '../lib/host/files.ts';
import { parseJson } from '../lib/json.ts';
import { ensureComponent } from './components/component.ts';
import { nmstatectl } from './components/nmstatectl.ts';
import { eventually } from './eventually.ts';
import { attachLoopDevice, detachLoopDevice } from './host/loop.ts';
import { SITE } from './host/network.ts';
import { cli } from './paths.ts';
import { Relocation, siteHost } from './relocation.ts';

const CREATE_MS = 60_000;
const PASS_MS = 12 * 60_000;
const LOOK_MS = 60_000;
const SIGNER = 'etc/sno-agents/site-signer.pub';
const RESULT = 'var/lib/sno-agents/reconfigure/result.json';
const KUBECONFIG = 'var/lib/sno-agents/reconfigure/admin.kubeconfig';

const resultSchema = z.object({
  outcome: z.string(),
  at: z.string(),
  endedAt: z.string(),
  failure: failureDataSchema.optional(),
});

/** A static address instead of the site's DHCP, another domain and another name. */
const siteConfig = (gateway: string): string => `api_version: 1
cluster_name: edge
base_domain: site.test
hostname: till-7
siteChecks:
  - ping: ${gateway}
node_labels:
  site: till
raw_nm_state_config:
  interfaces:
    - name: eth0
      type: ethernet
      state: up
      ipv4:
        enabled: true
        dhcp: false
        address:
          - ip: ${siteHost.addresses[0]}
            prefix-length: 24
  routes:
    config:
      - destination: 0.0.0.0/0
        next-hop-address: ${gateway}
        next-hop-interface: eth0
  dns-resolver:
    config:
      server: [${gateway}]
`;

const MANIFEST = `apiVersion: v1
kind: ConfigMap
metadata: { name: site, namespace: default }
data: { till: "7" }
---
# No operator serves it here: PASS does not wait for it.
apiVersion: lab.example.org/v1
kind: Later
metadata: { name: till }
`;

/** A sealed node at its site, until a technician inserts the volume. */
export class SiteArrival extends Relocation {
  get #folder(): string {
    return join(this.context.folder, 'site');
  }

  get #key(): string {
    return join(this.context.folder, 'site-key');
  }

  /** In the factory: whose volumes the node takes. */
  async fixSigner(): Promise<void> {
    const limits = { signal: this.context.signal, deadlineMs: CREATE_MS };
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', this.#key], limits);
    const { rootDir } = this.booted;
    // CoreOS has it.
    const within = { signal: this.context.signal, report: () => undefined };
    const program = join(await ensureComponent(nmstatectl, within), nmstatectl.name);
    await copyFile(program, join(rootDir, 'usr/bin', nmstatectl.name));
    await writeFile(join(rootDir, SIGNER), await readFile(`${this.#key}.pub`));
    await this.command('reconfigure', 'prepare', '--signer', `/${SIGNER}`);
  }

  get #iso(): string {
    return join(this.#folder, 'site-volume.iso');
  }

  /** An ISO of `sno create site-volume`, on a stick that appears. */
  async insert(): Promise<void> {
    const { signal, teardown } = this.context;
    const { bridge: gateway } = SITE.segments.IPv4;
    await mkdir(join(this.#folder, 'extra-manifests'), { recursive: true });
    await writeFile(join(this.#folder, 'site-config.yaml'), siteConfig(gateway));
    await writeFile(join(this.#folder, 'extra-manifests', '10-site.yaml'), MANIFEST);
    const create = ['create', 'site-volume', '--dir', this.#folder, '--sign', this.#key];
    await run(cli, create, { signal, deadlineMs: CREATE_MS });
    const device = await attachLoopDevice(this.#iso, {}, signal);
    teardown.add(`detach ${device}`, () =>
      detachLoopDevice(device, AbortSignal.timeout(CREATE_MS)),
    );
    const name = basename(device);
    await this.command('mknod', '-m', '660', device, 'b', '7', name.replace('loop', ''));
    await this.command('chgrp', 'disk', device);
    // As the kernel would tell udev of a drive: a container's receives no events of other namespaces.
    await this.command('udevadm', 'trigger', '--action=change', `/sys/class/block/${name}`);
  }

  /** Waits for PASS, and says how long it took. */
  async pass(report: (line: string) => void): Promise<void> {
    const path = join(this.booted.rootDir, RESULT);
    const look = async () => {
      const { data } = resultSchema.safeParse(parseJson((await readTextIfPresent(path)) ?? ''));
      if (data === undefined) throw new Failure('retry', 'the site is not configured yet');
      return data;
    };
    const result = await eventually(look, PASS_MS, this.context.signal);
    const seconds = (Date.parse(result.endedAt) - Date.parse(result.at)) / 1000;
    report(`${result.outcome} after ${Math.round(seconds)} s`);
    if (result.outcome === 'configured') return;
    throw new Failure('fatal', 'the node has not the configuration of its site', {
      found: result.failure === undefined ? result.outcome : failureSentence(result.failure),
    });
  }

  /** What the site asked for; the factory's administrator is nobody here. */
  async checkSite(): Promise<void> {
    const { rootDir } = this.booted;
    const found = {
      hostname: (await this.command('hostname')).trim(),
      label: await this.#asAdministrator(
        'get',
        'nodes',
        '-o',
        'jsonpath={.items[*].metadata.labels.site}',
      ),
      manifest: await this.#asAdministrator(
        'get',
        'configmap',
        'site',
        '-o',
        'jsonpath={.data.till}',
      ),
      later: /waiting/.exec(
        await this.#asAdministrator(
          'get',
          'configmap',
          'sno-deferred',
          '-n=kube-system',
          '-o=yaml',
        ),
      )?.[0],
      kubeconfig: ((await readTextIfPresent(join(rootDir, KUBECONFIG))) ?? '').includes(
        'https://api.edge.site.test:6443',
      ),
    };
    const expected = {
      hostname: 'till-7',
      label: 'till',
      manifest: '7',
      later: 'waiting',
      kubeconfig: true,
    };
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      throw new Failure('fatal', 'the node is not as its site says', {
        expected: JSON.stringify(expected),
        found: JSON.stringify(found),
      });
    }
    const code = await this.#factoryCode();
    if (code !== '401') throw new Error(`the factory's administrator gets ${code}, expected 401`);
    await this.command('wait-steady', '--for', '20s', '--timeout', '3m');
  }

  /** What whoever has the stick can read, on any computer. */
  async checkStick(): Promise<void> {
    const told = async () => {
      const stick = await readFile(this.#iso);
      const missing = ['PASS: the node has', 'server: https://api.edge.site.test:6443'].filter(
        (text) => !stick.includes(text),
      );
      if (missing.length === 0) return;
      throw new Failure('retry', 'the stick does not say it', { found: missing.join(', ') });
    };
    await eventually(told, LOOK_MS, this.context.signal);
  }

  /** With the kubeconfig of the host and the key of the laptop. */
  async #asAdministrator(...args: readonly string[]): Promise<string> {
    const { rootDir } = this.booted;
    const auth = join(this.#folder, 'auth');
    const kubeconfig = join(auth, 'kubeconfig');
    await writeFile(kubeconfig, (await readTextIfPresent(join(rootDir, KUBECONFIG))) ?? '');
    const limits = { signal: this.context.signal, deadlineMs: CREATE_MS };
    const from = [
      ...[`--kubeconfig=${kubeconfig}`, `--server=https://${siteHost.addresses[0]}:6443`],
      ...['--tls-server-name=api.edge.site.test', '--request-timeout=20s'],
    ];
    return run(join(this.cluster.kubernetes, 'kubectl'), [...from, ...args], limits);
  }

  /** What the API answers to the administrator of the factory, whoever signed its certificate. */
  async #factoryCode(): Promise<string> {
    const text = await readFile(this.cluster.kubeconfig, 'utf8');
    const [certificate, key] = ['client-certificate-data', 'client-key-data'].map((name) => {
      const data = new RegExp(`${name}: *(\\S+)`).exec(text)?.[1] ?? '';
      return Buffer.from(data, 'base64');
    });
    const files = {
      cert: join(this.#folder, 'factory.crt'),
      key: join(this.#folder, 'factory.key'),
    };
    await writeFile(files.cert, certificate ?? '');
    await writeFile(files.key, key ?? '');
    const args = ['--cert', files.cert, '--key', files.key, '--output', '/dev/null'];
    const url = `https://${siteHost.addresses[0]}:6443/api/v1/nodes`;
    return run('curl', ['-k', '--silent', '--write-out', '%{http_code}', ...args, url], {
      signal: this.context.signal,
      deadlineMs: CREATE_MS,
    });
  }
}
