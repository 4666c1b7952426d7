import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:http';
import type { AgentOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { describeError, Failure } from '../../base/errors/failure.ts';
import { schemaFaults } from '../../base/errors/schema-faults.ts';
import { readGoYaml } from '../../base/go-yaml/read.ts';

/** What a client proves itself with: PEM, and a bearer token. */
export interface Credentials {
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly token?: string | undefined;
}

/** The address of an API server, and the credentials of both sides; certificates and keys are PEM. */
export interface Access extends Credentials {
  readonly server: URL;
  readonly ca: string;
  /** The name that the server's certificate is verified for, if not that of the address. */
  readonly serverName?: string | undefined;
  /** Whom the owner of the credentials acts for: the API server grants that user's rights only. */
  readonly actingFor?:
    | {
        readonly user: string;
        readonly groups: readonly string[];
        readonly uid?: string | undefined;
        /** By key. */
        readonly extra?: Readonly<Record<string, readonly string[]>>;
      }
    | undefined;
  /** Credentials that change while they are used, asked for before each request; they replace those above. */
  readonly renewed?: (() => Promise<Credentials>) | undefined;
  /** Makes the connections, such as through a proxy; default: directly. */
  readonly connections?: ((options: AgentOptions) => Agent) | undefined;
}

/** The entries that the current context names; what is in them is not judged. */
export interface CurrentEntries {
  readonly cluster: { readonly name: string; readonly cluster: unknown };
  readonly user: { readonly name: string; readonly user: unknown };
}

const kubeconfigSchema = z.looseObject({
  'current-context': z.string().min(1),
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) }),
  ),
  clusters: z.array(z.object({ name: z.string(), cluster: z.unknown() })),
  users: z.array(z.object({ name: z.string(), user: z.unknown() })),
});

const clusterSchema = z.object({
  server: z.url({ protocol: /^https$/ }),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.base64().optional(),
  'insecure-skip-tls-verify': z.literal(false).optional(),
});

const userSchema = z.object({
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.base64().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.base64().optional(),
  token: z.string().optional(),
  tokenFile: z.string().optional(),
});

/**
 * Reads what the current context of one of this host's kubeconfigs names: a CA and a client
 * certificate or token, inline or as files relative to the kubeconfig. The certificate of the server is
 * always verified. Kubeconfigs of people are read by cli/kubeconfig/read-kubeconfig.ts.
 * @throws Failure `usage` that names the file and the field.
 */
export async function readKubeconfig(path: string): Promise<Access> {
  try {
    const entries = currentEntries(await readFile(path, 'utf8'));
    const cluster = parsedEntry(
      clusterSchema,
      entries.cluster.cluster,
      `cluster ${entries.cluster.name}`,
    );
    const user = parsedEntry(userSchema, entries.user.user, `user ${entries.user.name}`);
    const material = (data: string | undefined, file: string | undefined) =>
      readMaterial(dirname(path), data, file);
    const [ca, certificate, key, token] = await Promise.all([
      material(cluster['certificate-authority-data'], cluster['certificate-authority']),
      material(user['client-certificate-data'], user['client-certificate']),
      material(user['client-key-data'], user['client-key']),
      user.token ?? material(undefined, user.tokenFile),
    ]);
    if (ca === undefined)
      throw new Error(`cluster ${entries.cluster.name} has no certificate-authority`);
    return { server: new URL(cluster.server), ca, certificate, key, token: token?.trim() };
  } catch (error) {
    throw unusableKubeconfig(path, error);
  }
}

/** @throws Failure `usage` */
export function unusableKubeconfig(path: string, error: unknown): Failure {
  const found = error instanceof z.ZodError ? schemaFaults(error) : describeError(error);
  return new Failure('usage', `the kubeconfig ${path} cannot be used`, { found });
}

/** @throws Error that names the entry and its field */
export function parsedEntry<T>(schema: z.ZodType<T>, entry: unknown, what: string): T {
  const result = schema.safeParse(entry);
  if (result.success) return result.data;
  throw new Error(`${what}: ${schemaFaults(result.error)}`);
}

/** @throws Error that names what is missing */
export function currentEntries(text: string): CurrentEntries {
  const config = kubeconfigSchema.parse(readGoYaml(text));
  const { context } = named(config.contexts, config['current-context'], 'context');
  return {
    cluster: named(config.clusters, context.cluster, 'cluster'),
    user: named(config.users, context.user, 'user'),
  };
}

function named<T extends { name: string }>(entries: readonly T[], name: string, what: string): T {
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) throw new Error(`${what} ${name} not found`);
  return entry;
}

/** PEM or a token: `data` is base64 and comes first, `file` is relative to `folder`. */
export async function readMaterial(
  folder: string,
  data: string | undefined,
  file: string | undefined,
): Promise<string | undefined> {
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  return file === undefined ? undefined : readFile(resolve(folder, file), 'utf8');
}
