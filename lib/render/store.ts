import { z } from 'zod';
import { Failure } from '../base/errors/failure.ts';
import { nodeIpsSchema } from '../base/network/node-ips.ts';
import { readTextIfPresent } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
import { makeFolder, secretFile, writeKeptFiles } from '../secrets/seal/files.ts';
import { FILE_USES, type HostNeeds, neededBy } from './hosts.ts';
import {
  KEY_CLASSES,
  POD_ROLES,
  type Rendered,
  type RenderedFile,
  type StaticPod,
} from './renderer.ts';

const uses = z.array(z.enum(FILE_USES));

const renderedSchema: z.ZodType<Rendered, Rendered> = z.object({
  directories: z.array(z.object({ path: z.string(), mode: z.number(), uses })),
  files: z.array(
    z.object({
      path: z.string(),
      mode: z.number(),
      contents: z.string(),
      uses,
      keyClass: z.enum(KEY_CLASSES).optional(),
      leftover: z.string().optional(),
    }),
  ),
  staticPods: z.array(
    z.object({
      component: z.string(),
      role: z.enum(POD_ROLES),
      file: z.string(),
      container: z.string(),
      manifest: z.string(),
    }),
  ),
  leases: z.array(z.object({ namespace: z.string(), name: z.string() })),
  manifests: z.array(z.object({ name: z.string(), contents: z.string() })),
  userManifests: z.literal('included').optional(),
});

/** The facts of the host that the reboot must not change. */
const identitySchema = z.object({ hostname: z.string(), nodeIps: nodeIpsSchema });

export type RenderedIdentity = z.infer<typeof identitySchema>;

/** Increased when the stored format changes. */
const SCHEMA_VERSION = 2;

const storeSchema = z.object({
  schemaVersion: z.literal(SCHEMA_VERSION),
  input: z.string(),
  identity: identitySchema,
  rendered: renderedSchema,
});

type Store = z.infer<typeof storeSchema>;

/**
 * Stores the rendered result in one 0600 file on the live host: keys are created
 * once, and every later step reads the same ones.
 */
export async function saveRendered(
  paths: HostPaths,
  input: string,
  identity: RenderedIdentity,
  rendered: Rendered,
): Promise<void> {
  const { hostname, nodeIps } = identity;
  await storeFile(paths).write({
    schemaVersion: SCHEMA_VERSION,
    input,
    identity: { hostname, nodeIps },
    rendered,
  });
}

/**
 * What was rendered for that input; undefined if nothing was, or for another input.
 * @throws Failure (fatal) for a store of another version: new keys would replace
 *   those of a running control plane.
 */
export async function loadRenderedFor(
  paths: HostPaths,
  input: string,
): Promise<Rendered | undefined> {
  const stored = await storeFile(paths).read();
  return stored?.input === input ? stored.rendered : undefined;
}

/**
 * The result of the step render. @throws Failure (fatal) if it has not run; see
 * loadRenderedFor.
 */
export async function loadRendered(paths: HostPaths): Promise<Rendered> {
  return (await loadStore(paths)).rendered;
}

/** The host name and addresses for which everything was rendered. */
export async function loadIdentity(paths: HostPaths): Promise<RenderedIdentity> {
  return (await loadStore(paths)).identity;
}

async function loadStore(paths: HostPaths): Promise<Store> {
  const stored = await storeFile(paths).read();
  if (stored !== undefined) return stored;
  throw new Failure('fatal', `${storePath(paths)} does not exist`, {
    fix: 'Run the step render first.',
  });
}

const storeFile = (paths: HostPaths) =>
  secretFile(paths, storePath(paths), storeSchema, {
    expected: `the output of this version of sno-agents, with schemaVersion ${SCHEMA_VERSION}`,
    fix: 'Restart the live host: it starts over, with new keys and certificates. On an all-in-one host, write the image to the disk again.',
  });

/** Creates the folders that the host needs and writes its files. */
export async function placeFiles(
  paths: HostPaths,
  host: HostNeeds,
  { directories, files }: Pick<Rendered, 'directories' | 'files'>,
): Promise<void> {
  for (const { path, mode } of neededBy(host, directories)) {
    await makeFolder(paths, path, mode);
  }
  await writeKeptFiles(
    paths,
    neededBy(host, files).map(({ path, contents, mode }) => ({ path, contents, mode })),
  );
}

/** Whether every file that the host needs is in place with its contents. */
export async function filesArePlaced(
  paths: HostPaths,
  host: HostNeeds,
  files: readonly RenderedFile[],
): Promise<boolean> {
  for (const { path, contents } of neededBy(host, files)) {
    if ((await readTextIfPresent(paths.at(path))) !== contents) return false;
  }
  return true;
}

/** The one static pod of that role. @throws Failure (fatal) when there is none. */
export function podOfRole(
  { staticPods }: Pick<Rendered, 'staticPods'>,
  role: 'database' | 'api-server',
): StaticPod {
  const found = staticPods.find((pod) => pod.role === role);
  if (found === undefined)
    throw new Failure('fatal', `no static pod with the role ${role} was rendered`);
  return found;
}

const storePath = (paths: HostPaths) => `${paths.assets}/rendered.json`;
