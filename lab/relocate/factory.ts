import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { run } from '../../lib/host/command.ts';
import { sha256 } from '../../lib/host/files.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { applyObject } from '../checks/apply-object.ts';
import { workload } from '../checks/workload.ts';
import type { Disk } from '../host/disk.ts';
import type { Host } from '../host/host.ts';
import type { CreatedInstallation } from '../install-config.ts';
import { type Report, scenarioOf } from '../installation.ts';
import { outFolder, repository } from '../paths.ts';
import { isPatient, slowHostSettings } from '../patience.ts';
import { relocatableHost } from '../relocation.ts';
import type { LabContext, Scenario } from '../scenario.ts';
import { SiteArrival } from '../site-arrival.ts';

export const FACTORY_SCENARIO = 'relocate-factory';
const COPY_MS = 5 * 60_000;

/** Shorter than on a node that a person waits for. */
export const FACTORY_SETTINGS: Partial<Settings> = {
  validateWindowMs: 5_000,
  reconfigureCheckMs: 20_000,
  reconfigureAnswersMs: 9_000,
  reconfigureWindowMs: 3_000,
  reconfigureSettleMs: 90_000,
  retryMs: 500,
};

/** Of a slow host: it is tested in a hurry, and has the usual time at its site. */
const SLOW_FACTORY_SETTINGS: Partial<Settings> = {
  validateWindowMs: 5_000,
  validateProbeMs: 300_000,
};

const factorySettings = (): Partial<Settings> =>
  isPatient() ? { ...slowHostSettings(), ...SLOW_FACTORY_SETTINGS } : FACTORY_SETTINGS;

export const writeFactorySettings = ({ rootDir }: Pick<Host, 'rootDir'>): Promise<void> =>
  writeFile(join(rootDir, 'etc/sno-agents/settings.json'), JSON.stringify(factorySettings()));

/** An object of the factory: whoever goes back has to have it again. */
export const FACTORY_OBJECT = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'factory', namespace: 'default' },
} as const;

/** What a node can be: the disk of a machine starts on no container. */
type Kind = LabContext['hosts']['are'];

/** Of the node of this kind that was kept last. */
const folderOf = (kind: Kind) =>
  join(outFolder(FACTORY_SCENARIO, kind === 'machines' ? 'vm' : 'container'), 'node');
const FILES = { kubeconfig: 'kubeconfig', ignition: 'aio.ign', key: 'site-key' } as const;
const recordSchema = z.object({ sources: z.string(), bytes: z.number() });

/** A digest of what the executable is built from: a node with other agents would prove nothing. */
async function sourcesOfExecutable(): Promise<string> {
  const digests: string[] = [];
  for (const name of ['agents', 'lib', 'report', 'units']) {
    const entries = await readdir(join(repository, name), { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((each) => each.isFile())) {
      const path = join(entry.parentPath, entry.name);
      digests.push(`${path.slice(repository.length)} ${sha256(await readFile(path))}`);
    }
  }
  return sha256(digests.toSorted().join('\n'));
}

/** A node as it leaves the factory, switched off. */
export interface FactoryNode {
  readonly disk: Disk;
  readonly created: CreatedInstallation;
  /** Whose volumes it takes: the private key. */
  readonly key: string;
}

export const copyDisk = (from: string, to: string, signal: AbortSignal) =>
  run('cp', ['--sparse=always', '--reflink=auto', from, to], { signal, deadlineMs: COPY_MS });

/** The factory's part in a hurry. */
export class Factory extends SiteArrival {
  async prepareForShipping(report: Report): Promise<void> {
    await writeFactorySettings(this.booted);
    await this.run.runChecks([workload], report, {});
    await applyObject(this.run.cluster, FACTORY_OBJECT, this.context.signal);
    await this.fixSigner();
  }

  /** For the scenarios that take it to a site. */
  async keep(): Promise<void> {
    const { hosts, signal } = this.context;
    const { disk } = this.run.site;
    const folder = folderOf(hosts.are);
    await this.booted.stop();
    this.run.host = undefined;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await copyFile(this.run.created.kubeconfig, join(folder, FILES.kubeconfig));
    await copyFile(this.run.created.ignition, join(folder, FILES.ignition));
    await copyFile(this.signingKey, join(folder, FILES.key));
    await copyDisk(disk.file, join(folder, 'disk.raw'), signal);
    const record = { sources: await sourcesOfExecutable(), bytes: disk.bytes };
    await writeFile(join(folder, 'node.json'), JSON.stringify(record));
  }
}

/** Installs a node, makes it relocatable, validates and seals it, and keeps it for the other scenarios. */
export const relocateFactory: Scenario = (context) => {
  const run = relocatableHost(context);
  const factory = new Factory(run);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Prepare it', run: (report) => factory.prepareForShipping(report) },
    { title: 'Validate and seal it', run: () => factory.validate() },
    { title: 'Switch it off, keep it', run: () => factory.keep() },
  ]);
};

/**
 * A copy of the node that was kept, with the disk in `target`.
 *
 * @throws Failure (usage) if there is none of these sources
 */
export async function takeFactoryNode(
  target: string,
  { hosts, signal }: Pick<LabContext, 'hosts' | 'signal'>,
): Promise<FactoryNode> {
  const folder = folderOf(hosts.are);
  const text = await readFile(join(folder, 'node.json'), 'utf8').catch(() => '{}');
  const { data } = recordSchema.safeParse(JSON.parse(text));
  if (data?.sources !== (await sourcesOfExecutable())) {
    throw new Failure('usage', 'there is no node of the factory of these sources', {
      fix: `Run the scenario ${FACTORY_SCENARIO} before, with the same --machine.`,
    });
  }
  const file = join(target, 'disk.raw');
  await copyDisk(join(folder, 'disk.raw'), file, signal);
  return {
    disk: { file, bytes: data.bytes },
    created: {
      kubeconfig: join(folder, FILES.kubeconfig),
      ignition: join(folder, FILES.ignition),
    },
    key: join(folder, FILES.key),
  };
}

/** Once nobody needs it any more: it has gigabytes, and keys. */
export const removeFactoryNode = (kind: Kind) =>
  rm(folderOf(kind), { recursive: true, force: true });
