import { chmod, mkdir } from 'node:fs/promises';
import { z } from 'zod';
import { Failure } from '../errors/failure.ts';
import { exists, readTextIfPresent, sha256, writeFileAtomic } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
import { nodeIpsSchema } from '../network/node-ips.ts';
import type { Rendered, RenderedFile } from './renderer.ts';

const stage = z.enum(['live', 'installed', 'both']);

const renderedSchema: z.ZodType<Rendered> = z.object({
  directories: z.array(z.object({ path: z.string(), mode: z.number(), stage })),
  files: z.array(
    z.object({
      path: z.string(),
      mode: z.number(),
      contents: z.string(),
      stage,
      keyClass: z.enum(['gone', 'adopted', 'permanent']).optional(),
      leftover: z.string().optional(),
    }),
  ),
  staticPods: z.array(
    z.object({
      component: z.string(),
      file: z.string(),
      container: z.string(),
      manifest: z.string(),
    }),
  ),
  manifests: z.array(z.object({ name: z.string(), contents: z.string() })),
});

/** Of the host's facts, those that the reboot must not change. */
const identitySchema = z.object({ hostname: z.string(), nodeIps: nodeIpsSchema });

export type HostIdentity = z.infer<typeof identitySchema>;

const storeSchema = z.object({
  input: z.string(),
  identity: identitySchema,
  rendered: renderedSchema,
});

/**
 * What was rendered, kept whole in one 0600 file on the live host: keys are made
 * once, and every later step reads the same ones whatever happened in between.
 */
export async function saveRendered(
  paths: HostPaths,
  input: string,
  identity: HostIdentity,
  rendered: Rendered,
): Promise<void> {
  const { hostname, nodeIps } = identity;
  const stored = { input, identity: { hostname, nodeIps }, rendered };
  await writeFileAtomic(storePath(paths), JSON.stringify(stored), 0o600);
}

/** What was rendered for that input; undefined when it was another or none. */
export async function loadRenderedFor(
  paths: HostPaths,
  input: string,
): Promise<Rendered | undefined> {
  const text = await readTextIfPresent(storePath(paths));
  if (text === undefined) return undefined;
  const stored = storeSchema.safeParse(JSON.parse(text));
  return stored.success && stored.data.input === input ? stored.data.rendered : undefined;
}

/** What the render step left; a Failure when it did not run. */
export async function loadRendered(paths: HostPaths): Promise<Rendered> {
  return (await loadStore(paths)).rendered;
}

/** The name and addresses that everything was rendered for. */
export async function loadIdentity(paths: HostPaths): Promise<HostIdentity> {
  return (await loadStore(paths)).identity;
}

async function loadStore(paths: HostPaths): Promise<z.infer<typeof storeSchema>> {
  const text = await readTextIfPresent(storePath(paths));
  if (text === undefined) {
    throw new Failure('fatal', `${storePath(paths)} is not there`, {
      fix: 'Run the step render first.',
    });
  }
  return storeSchema.parse(JSON.parse(text));
}

/** Makes the folders of the live stage and writes its files to their places. */
export async function placeFiles(
  paths: HostPaths,
  { directories, files }: Pick<Rendered, 'directories' | 'files'>,
): Promise<void> {
  for (const { path, mode } of directories.filter(({ stage }) => stage !== 'installed')) {
    await mkdir(paths.at(path), { recursive: true, mode });
    await chmod(paths.at(path), mode);
  }
  for (const { path, contents, mode } of liveFiles(files)) {
    await writeFileAtomic(paths.at(path), contents, mode);
  }
}

/** Whether every file of the live stage is in place with its contents. */
export async function filesArePlaced(
  paths: HostPaths,
  files: readonly RenderedFile[],
): Promise<boolean> {
  for (const { path, contents } of liveFiles(files)) {
    if (!(await exists(paths.at(path)))) return false;
    const there = await readTextIfPresent(paths.at(path));
    if (there === undefined || sha256(there) !== sha256(contents)) return false;
  }
  return true;
}

export function staticPod(rendered: Rendered, component: string) {
  const found = rendered.staticPods.find((pod) => pod.component === component);
  if (found === undefined) throw new Failure('fatal', `no static pod ${component} was rendered`);
  return found;
}

const liveFiles = (files: readonly RenderedFile[]) =>
  files.filter(({ stage }) => stage !== 'installed');
const storePath = (paths: HostPaths) => `${paths.assets}/rendered.json`;
