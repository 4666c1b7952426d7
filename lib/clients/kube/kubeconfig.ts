import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { describeError, Failure } from '../../base/errors/failure.ts';
import { readGoYaml } from '../../base/go-yaml/read.ts';

/** The address of an API server, and the credentials of both sides; certificates and keys are PEM. */
export interface Access {
  readonly server: URL;
  readonly ca: string;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly token?: string | undefined;
  /** Whom the owner of the credentials acts for: the API server grants that user's rights only. */
  readonly actingFor?: { readonly user: string; readonly groups: readonly string[] } | undefined;
}

const kubeconfigSchema = z.object({
  'current-context': z.string().min(1),
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) }),
  ),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.object({
        server: z.url({ protocol: /^https$/ }),
        'certificate-authority': z.string().optional(),
        'certificate-authority-data': z.base64().optional(),
        'insecure-skip-tls-verify': z.literal(false).optional(),
      }),
    }),
  ),
  users: z.array(
    z.object({
      name: z.string(),
      user: z.object({
        'client-certificate': z.string().optional(),
        'client-certificate-data': z.base64().optional(),
        'client-key': z.string().optional(),
        'client-key-data': z.base64().optional(),
        token: z.string().optional(),
        tokenFile: z.string().optional(),
      }),
    }),
  ),
});

/**
 * Reads what the current context of a kubeconfig names: a CA and a client
 * certificate or token, inline or as files relative to the kubeconfig. The
 * certificate of the server is always verified; credential plug-ins are not run.
 * @throws Failure `usage` that names the file and the field.
 */
export async function readKubeconfig(path: string): Promise<Access> {
  try {
    const config = kubeconfigSchema.parse(readGoYaml(await readFile(path, 'utf8')));
    const context = named(config.contexts, config['current-context'], 'context').context;
    const { cluster } = named(config.clusters, context.cluster, 'cluster');
    const { user } = named(config.users, context.user, 'user');
    const material = (data: string | undefined, file: string | undefined) =>
      readMaterial(dirname(path), data, file);
    const [ca, certificate, key, token] = await Promise.all([
      material(cluster['certificate-authority-data'], cluster['certificate-authority']),
      material(user['client-certificate-data'], user['client-certificate']),
      material(user['client-key-data'], user['client-key']),
      user.token ?? material(undefined, user.tokenFile),
    ]);
    if (ca === undefined)
      throw new Error(`cluster ${context.cluster} has no certificate-authority`);
    return { server: new URL(cluster.server), ca, certificate, key, token: token?.trim() };
  } catch (error) {
    const found = error instanceof z.ZodError ? z.prettifyError(error) : describeError(error);
    throw new Failure('usage', `the kubeconfig ${path} cannot be used`, { found });
  }
}

function named<T extends { name: string }>(entries: readonly T[], name: string, what: string): T {
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) throw new Error(`${what} ${name} not found`);
  return entry;
}

async function readMaterial(
  folder: string,
  data: string | undefined,
  file: string | undefined,
): Promise<string | undefined> {
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  return file === undefined ? undefined : readFile(resolve(folder, file), 'utf8');
}
