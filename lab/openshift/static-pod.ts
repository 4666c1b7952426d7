import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readGoYaml } from '../../lib/base/go-yaml/read.ts';
import { exists } from '../../lib/host/files.ts';
import { type Daemon, startDaemon } from '../servers/daemon.ts';
import { NODE_ADDRESS } from './bootstrap-assets.ts';
import type { ImageRoots } from './image-roots.ts';

/** Maximum time that a container outlives its user. */
const LIFETIME_MS = 15 * 60_000;

const variableSchema = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.object({ fieldRef: z.object({ fieldPath: z.string() }) }).optional(),
});
const containerSchema = z.object({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()),
  args: z.array(z.string()).default([]),
  env: z.array(variableSchema).default([]),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })).default([]),
});
const podSchema = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string().nullable() }),
  spec: z.object({
    initContainers: z.array(containerSchema).default([]),
    containers: z.array(containerSchema),
    volumes: z.array(
      z.object({ name: z.string(), hostPath: z.object({ path: z.string() }).optional() }),
    ),
  }),
});

type Pod = z.infer<typeof podSchema>;
type Container = z.infer<typeof containerSchema>;

export interface PodOptions {
  readonly roots: ImageRoots;
  /** Folder that stands for the host's root in paths of volumes. */
  readonly host: string;
  /** Folder of one log file for each container. */
  readonly logs: string;
  readonly signal: AbortSignal;
}

/**
 * Starts these containers of a static pod after its init containers, as the kubelet would, with
 * their commands, variables and volumes, in the file systems of their images and the network of
 * this process.
 */
export async function startStaticPod(
  manifest: string,
  names: readonly string[],
  options: PodOptions,
): Promise<Daemon[]> {
  const pod = podSchema.parse(readGoYaml(await readFile(manifest, 'utf8')));
  const { initContainers, containers } = pod.spec;
  for (const container of initContainers) {
    const { root, command, variables } = await prepare(pod, container, options);
    await root.execute(command, variables, options.signal);
  }
  const daemons: Daemon[] = [];
  for (const container of containers.filter(({ name }) => names.includes(name))) {
    const { root, command, variables } = await prepare(pod, container, options);
    const { program, args } = root.commandLine(command, variables);
    const log = join(options.logs, `${container.name}.log`);
    daemons.push(startDaemon(program, args, log, LIFETIME_MS));
  }
  return daemons;
}

/** Mounts a container's volumes; returns what is to be run. */
async function prepare(pod: Pod, container: Container, { roots, host, signal }: PodOptions) {
  const [, image = ''] = /([^/@:]+)[@:][^/]+$/.exec(container.image) ?? [];
  const root = await roots.of(image, signal);
  for (const { source, target } of volumesOf(pod, container, host)) {
    if (!(await exists(source))) await mkdir(source, { recursive: true });
    await root.mount(source, target, signal);
  }
  const environment = variablesOf(pod, container);
  const expand = (text: string) =>
    text.replace(/\$\((\w+)\)/g, (whole, name: string) => environment.get(name) ?? whole);
  const command = [...container.command, ...container.args].map(expand);
  const variables = [...environment].map(([name, value]) => `${name}=${value}`);
  return { root, command, variables };
}

function volumesOf({ spec }: Pod, container: Container, host: string) {
  return container.volumeMounts.map(({ name, mountPath }) => {
    const path = spec.volumes.find((volume) => volume.name === name)?.hostPath?.path;
    return { source: join(host, path ?? `emptyDir/${container.name}/${name}`), target: mountPath };
  });
}

function variablesOf({ metadata }: Pod, { env }: Container): ReadonlyMap<string, string> {
  const fields: Readonly<Record<string, string>> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace ?? '',
    'status.hostIP': NODE_ADDRESS,
  };
  return new Map(
    env.map(({ name, value, valueFrom }) => [
      name,
      value ?? fields[valueFrom?.fieldRef.fieldPath ?? ''] ?? '',
    ]),
  );
}
